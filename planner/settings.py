"""Phaseplan's settings, all from the environment. docs/configuration.md lists the variables."""

from pathlib import Path

from csp.constants import NONE, SELF

from planner import backends
from planner.env import EnvError, envbool, envint, envlist, envstr

BASE_DIR = Path(__file__).resolve().parent.parent
VAR = Path(envstr("PHASEPLAN_VAR", str(BASE_DIR / "var"))).resolve()
VAR.mkdir(parents=True, exist_ok=True)
DATABASE_URL = envstr("DATABASE_URL")
REDIS_URL = envstr("REDIS_URL")

# The launcher sets it on loopback: no sign-in, plain HTTP, one person's machine.
LOCAL = envbool("PHASEPLAN_LOCAL", False)
# Embedded: this folder is the whole installation, with a single worker.
EMBEDDED = not REDIS_URL
DEBUG = envbool("PHASEPLAN_DEBUG", False)
GIVEN_KEY = envstr("SECRET_KEY")
SECRET_KEY = backends.given_key(GIVEN_KEY) if GIVEN_KEY else backends.secret_key(VAR)
ALLOWED_HOSTS = [*envlist("PHASEPLAN_HOSTS"), "127.0.0.1", "localhost", "[::1]"]
SITE = envstr("PHASEPLAN_SITE")
CSRF_TRUSTED_ORIGINS = envlist("PHASEPLAN_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "planner.accounts",
    "planner.catalogue",
    "planner.workloads",
    "planner.calibrations",
    "planner.power_logs",
    "planner.scenarios",
    "planner.studies",
    "planner.sharing",
    "planner.analyses",
    "planner.comparing",
    "planner.finance",
    "planner.deleted",
    "planner.api",
    "planner.operations",
]

MIDDLEWARE = [
    "planner.operations.logs.RequestLogMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",  # it hides lengths, and tokens are masked
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "planner.accounts.middleware.LocalUserMiddleware",
    "planner.sharing.middleware.SharedLinkMiddleware",
    "planner.accounts.middleware.SignInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "planner.api.conditional.ConditionalReadMiddleware",
]

ROOT_URLCONF = "planner.urls"
WSGI_APPLICATION = "planner.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "planner.accounts.context.visitor",
            ],
        },
    },
]

DATABASES = {"default": backends.database(DATABASE_URL, VAR, envint("PHASEPLAN_SQLITE_WAIT_S", 20, minimum=1))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {"default": backends.cache(REDIS_URL)}

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:sign_in"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]

PASSWORD_HASHERS = [f"django.contrib.auth.hashers.{name}" for name in ("Argon2PasswordHasher", "PBKDF2PasswordHasher")]
PASSWORD_RESET_TIMEOUT = 86_400
SIGN_IN_FAILURES = envint("PHASEPLAN_SIGN_IN_FAILURES", 5, minimum=1)
LOCK_OUT_S = envint("PHASEPLAN_LOCK_OUT_S", 900, minimum=1)
BEHIND_PROXY = envbool("PHASEPLAN_BEHIND_PROXY", False)

# Mail: by SMTP where a server is named, else as files in the data folder, for whoever runs it to pass on.
EMAIL_HOST = envstr("PHASEPLAN_SMTP_HOST")
EMAIL_PORT = envint("PHASEPLAN_SMTP_PORT", 587, minimum=1)
EMAIL_HOST_USER = envstr("PHASEPLAN_SMTP_USER")
EMAIL_HOST_PASSWORD = envstr("PHASEPLAN_SMTP_PASSWORD")
EMAIL_USE_SSL = EMAIL_PORT == 465
EMAIL_USE_TLS = envbool("PHASEPLAN_SMTP_TLS", True) and not EMAIL_USE_SSL
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = envstr("PHASEPLAN_MAIL_FROM", "phaseplan@localhost")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'filebased'}.EmailBackend"
EMAIL_FILE_PATH = VAR / "mail"

LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"  # also within a link, whose addresses begin otherwise
STATIC_ROOT = VAR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "planner.plotly_finder.PlotlyFinder",
]
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": VAR / "files"},
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
FILE_UPLOAD_HANDLERS = [
    "planner.workloads.upload_limit.UploadLimit",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
TRACE_MAX_BYTES = envint("PHASEPLAN_TRACE_MAX_MB", 200, minimum=1) * 1_000_000
KEEP_DELETED_DAYS = envint("PHASEPLAN_KEEP_DELETED_DAYS", 30, minimum=0)
EVALUATIONS_MAX_BYTES = envint("PHASEPLAN_EVALUATIONS_MAX_MB", 1000, minimum=1) * 1_000_000
MOST_REQUESTS_A_RUN = envint("PHASEPLAN_MOST_REQUESTS_A_RUN", 500_000, minimum=10_000)
TRACE_MAX_UNPACKED_BYTES = envint("PHASEPLAN_TRACE_MAX_UNPACKED_MB", 2000, minimum=1) * 1_000_000
TRACE_MAX_ROWS = envint("PHASEPLAN_TRACE_MAX_ROWS", 4_000_000, minimum=1)
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_PERMISSIONS = 0o600

# Plotly writes two style elements: an empty one that it fills by script, and its own stylesheet.
PLOTLY_STYLE_HASHES = [
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
    "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='",
]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF, *PLOTLY_STYLE_HASHES],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "object-src": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
if not LOCAL:
    SECURE_SSL_REDIRECT = envbool("PHASEPLAN_SSL_REDIRECT", True)
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
    SECURE_HSTS_SECONDS = envint("PHASEPLAN_HSTS_S", 31536000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    if BEHIND_PROXY:
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

CELERY_BROKER_URL, CELERY_BROKER_TRANSPORT_OPTIONS = backends.broker(REDIS_URL, VAR)
CELERY_BROKER_TRANSPORT = None if REDIS_URL else "planner.file_queue:Transport"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "phaseplan"
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False  # the row is the truth; a lost message is sent again by the reaper
CELERY_TASK_SOFT_TIME_LIMIT = envint("PHASEPLAN_TASK_SOFT_S", 3600, minimum=1)
CELERY_TASK_TIME_LIMIT = CELERY_TASK_SOFT_TIME_LIMIT + 60
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False

# Not among INSTALLED_APPS: it brings pages of its own, which nothing here shows, and most of what a start would load.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "planner.api.access.BearerAuthentication",  # first: its WWW-Authenticate is that of every 401
        "planner.api.access.GuestAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["planner.api.access.SignedInOrGuest"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["planner.api.parsers.PlainJsonParser"],
    "DEFAULT_SCHEMA_CLASS": "planner.api.document.DeclaredSchema",
    "DEFAULT_THROTTLE_CLASSES": [
        "rest_framework.throttling.AnonRateThrottle",
        "planner.api.throttles.CallerRateThrottle",
        "planner.api.throttles.WriteRateThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "anon": envstr("PHASEPLAN_API_ANON_RATE", "60/min"),
        "user": envstr("PHASEPLAN_API_USER_RATE", "1200/min"),
        "write": envstr("PHASEPLAN_API_WRITE_RATE", "120/min"),
        "failed_token": envstr("PHASEPLAN_API_FAILED_TOKEN_RATE", "20/min"),
    },
    # Of what X-Forwarded-For says, only what the proxy in front added is to be believed.
    "NUM_PROXIES": 1 if envbool("PHASEPLAN_BEHIND_PROXY", False) else 0,
    "EXCEPTION_HANDLER": "planner.api.errors.exception_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}

LOG_FORMAT = envstr("PHASEPLAN_LOG_FORMAT", "plain")
if LOG_FORMAT not in ("plain", "json"):
    raise EnvError(f"PHASEPLAN_LOG_FORMAT={LOG_FORMAT}: expected plain or json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"format": "{asctime} {levelname} {name}: {message}{about_words}", "style": "{"},
        "json": {"()": "planner.operations.logs.JsonFormatter"},
    },
    "filters": {"about": {"()": "planner.operations.logs.About"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["about"]},
    },
    "root": {"handlers": ["console"], "level": envstr("PHASEPLAN_LOG_LEVEL", "WARNING")},
}

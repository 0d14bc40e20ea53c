# One image for the web server and the worker; docker-compose.yml says which is which.
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PHASEPLAN_VAR=/data
WORKDIR /app
COPY requirements/runtime.txt requirements/
RUN pip install --no-cache-dir --require-hashes -r requirements/runtime.txt
COPY manage.py gunicorn.conf.py ./
COPY simcore simcore
COPY planner planner
COPY templates templates
COPY static static
RUN useradd --system --home-dir /data phaseplan && install -d -o phaseplan /data
USER phaseplan
VOLUME /data
EXPOSE 8000
CMD ["gunicorn", "planner.wsgi", "--bind", "0.0.0.0:8000", "--worker-class", "gthread", "--workers", "2", \
     "--threads", "8", "--no-control-socket", "--limit-request-line", "8190"]

"""The discrete-event engines: ``oracle`` says what every rule means, ``fast`` equals it bit for bit."""

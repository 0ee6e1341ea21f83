# A client for docker/compose.yml: kcat, which is librdkafka.
FROM debian:trixie-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends kcat \
    && rm -rf /var/lib/apt/lists/*
USER nobody

# Layover in a container. What the two stages do is in scripts/, which `make` uses too.

FROM swift:6.3-bookworm AS build
WORKDIR /source
COPY scripts/setup.sh scripts/build-release.sh scripts/
RUN scripts/setup.sh build
COPY Package.swift ./
# Without the cache that checkouts of one user share: nobody comes back to this layer.
RUN swift package --disable-dependency-cache resolve
COPY Sources Sources
COPY Tests Tests
RUN scripts/build-release.sh && install -D --strip .build/release/layover /out/layover

FROM debian:bookworm-slim
COPY scripts/container/install-runtime.sh /tmp/install-runtime.sh
RUN /tmp/install-runtime.sh && rm /tmp/install-runtime.sh
COPY --from=build /out/layover /usr/local/bin/layover
COPY config.json /etc/layover/config.json

USER layover
WORKDIR /data
VOLUME /data
EXPOSE 8080

# Whoever reaches the published port may use the proxy; the admin port stays inside the container.
# Layover refuses to listen beyond loopback unless told so by this variable, and warns then.
ENV LAYOVER_PROXY_INSECURE_OPEN=true \
    LAYOVER_STORE_PATH=/data/layover.sqlite

STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["layover", "healthcheck"]
ENTRYPOINT ["layover"]
CMD ["run", "--config", "/etc/layover/config.json", "--listen", "0.0.0.0:8080", "--admin", "127.0.0.1:8081"]

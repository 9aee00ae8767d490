# Layover in a container. What the stages do is in scripts/, which `make` uses too.

FROM swift:6.3-bookworm AS build
WORKDIR /source
COPY scripts/setup.sh scripts/build-release.sh scripts/
RUN scripts/setup.sh build
COPY Package.swift ./
# Without the cache that checkouts of one user share: nobody comes back to this layer.
RUN swift package --disable-dependency-cache resolve
COPY Sources Sources
COPY Tests Tests
COPY scripts/package/notices.py scripts/package/
RUN scripts/build-release.sh && install -D --strip .build/release/layover /out/layover \
    && python3 scripts/package/notices.py /out/THIRD-PARTY-NOTICES

FROM debian:bookworm-slim AS root
COPY scripts/container/install-runtime.sh scripts/container/minimal-root.sh /tmp/
RUN /tmp/install-runtime.sh
COPY --from=build /out/layover /usr/local/bin/layover
RUN /tmp/minimal-root.sh /root-of-image

# Only what runs. The rest of Debian, its package manager included, stays in the stage before.
FROM scratch
COPY --from=root /root-of-image /
# Not every tool keeps the owner of what it copies from a stage.
COPY --from=root --chown=10001:10001 /root-of-image/data /data
COPY config.json /etc/layover/config.json
COPY --from=build /out/THIRD-PARTY-NOTICES /usr/share/doc/layover/THIRD-PARTY-NOTICES

ENV PATH=/usr/local/bin:/usr/bin
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

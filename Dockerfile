# Has the program of dist: run "npm ci && npm run build" before.
#
# The base image is pinned by its digest, since a tag can be moved to another image.
ARG BASE=node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
FROM ${BASE}
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
  && rm -rf /var/lib/apt/lists/* \
  # The repository that is mounted here may belong to another user.
  && git config --system --add safe.directory /work
COPY CHANGELOG.md LICENSE README.md package.json /opt/edgewise/
COPY schemas /opt/edgewise/schemas
COPY dist /opt/edgewise/dist
RUN ln -s /opt/edgewise/dist/cli/main.js /usr/local/bin/edgewise
USER node
WORKDIR /work
ENTRYPOINT ["edgewise"]

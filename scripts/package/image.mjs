// A container image in OCI's layout: one layer with the files of the installation and the shared libraries of this system
// that Node.js loads. It has no shell and no package manager. podman, skopeo, docker load and umoci read the file.

import { createHash } from "node:crypto"
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { gunzipSync } from "node:zlib"
import { makeArchive } from "./archive.mjs"
import { commitTime, description, run, version } from "./facts.mjs"
import { runtime } from "./runtime.mjs"

/** Neither root nor a user of the host: volumes belong to it. */
const USER = 8334

const PEER_PORT = 8334

/** Where that user, and any other, may write. */
const SPECIAL = [
  { path: "./tmp", owner: 0, mode: "1777" },
  { path: "./var/lib/svcd", owner: USER, mode: "0700" },
  { path: "./var/cache/svcd", owner: USER, mode: "0700" }
]

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex")

/** The libraries that a program of this system loads, as paths. */
const librariesOf = (file) => [...run("ldd", [file]).matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path)

/** The licences of Debian's packages of these libraries, where this is Debian. */
const LIBRARY_LICENCES = ["libc6", "libgcc-s1", "libstdc++6"]

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const stageRoot = (tree, root) => {
  cpSync(tree, join(root, "usr"), { recursive: true })
  rmSync(join(root, "usr/bin"), { recursive: true })
  for (
    const name of ["lib/systemd", "lib/sysusers.d", "share/zsh", "share/fish", "share/bash-completion", "share/man"]
  ) {
    rmSync(join(root, "usr", name), { recursive: true })
  }
  for (const path of librariesOf(runtime.program)) cpSync(realpathSync(path), join(root, path))
  for (const name of LIBRARY_LICENCES) {
    const licence = `/usr/share/doc/${name}/copyright`
    if (existsSync(licence)) cpSync(realpathSync(licence), join(root, licence))
  }
  write(
    join(root, "etc/passwd"),
    `root:x:0:0:root:/root:/nologin\nsvcd:x:${USER}:${USER}:svcd:/var/lib/svcd:/nologin\n`
  )
  write(join(root, "etc/group"), `root:x:0:\nsvcd:x:${USER}:\n`)
  write(join(root, "etc/nsswitch.conf"), "hosts: files dns\n")
  for (const folder of ["tmp", "proc", "dev", "var/lib/svcd", "var/cache/svcd"]) {
    mkdirSync(join(root, folder), { recursive: true })
  }
}

const configOf = (layer) => ({
  created: new Date(commitTime() * 1000).toISOString(),
  architecture: "amd64",
  os: "linux",
  config: {
    User: `${USER}:${USER}`,
    ExposedPorts: { [`${PEER_PORT}/tcp`]: {} },
    // Compiled code is run: it is kept in the container, not in the volume of the data.
    Env: [
      "PATH=/usr/lib/svcd",
      "HOME=/var/lib/svcd",
      "SVCD_DATA_DIR=/var/lib/svcd",
      "XDG_CACHE_HOME=/var/cache"
    ],
    Entrypoint: ["/usr/lib/svcd/node", "/usr/lib/svcd/bin/svcd.js"],
    Volumes: { "/var/lib/svcd": {} },
    WorkingDir: "/usr/lib/svcd",
    Labels: {
      "org.opencontainers.image.title": "svcd",
      "org.opencontainers.image.description": description,
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.licenses": "MIT"
    },
    StopSignal: "SIGTERM"
  },
  rootfs: { type: "layers", diff_ids: [`sha256:${sha256(gunzipSync(layer))}`] },
  history: [{ created: new Date(commitTime() * 1000).toISOString(), created_by: "scripts/package.mjs" }]
})

/** Makes the image from a tree. Returns the path of its file. */
export const makeImage = ({ file, tree }) => {
  const work = `${file}.work`
  const layout = join(work, "layout")
  mkdirSync(join(layout, "blobs/sha256"), { recursive: true })
  stageRoot(tree, join(work, "root"))
  const store = (bytes, mediaType) => {
    const digest = sha256(bytes)
    writeFileSync(join(layout, "blobs/sha256", digest), bytes)
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length }
  }
  const storeJson = (value, mediaType) => store(Buffer.from(JSON.stringify(value)), mediaType)

  const packed = { folder: work, inside: true }
  const layer = readFileSync(
    makeArchive({ ...packed, name: "root", file: join(work, "layer.tar.gz"), special: SPECIAL })
  )
  const manifest = storeJson({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: storeJson(configOf(layer), "application/vnd.oci.image.config.v1+json"),
    layers: [store(layer, "application/vnd.oci.image.layer.v1.tar+gzip")]
  }, "application/vnd.oci.image.manifest.v1+json")
  const named = { ...manifest, annotations: { "org.opencontainers.image.ref.name": `svcd:${version}` } }
  writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }))
  writeFileSync(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [named] }))
  renameSync(makeArchive({ ...packed, name: "layout", file: join(work, basename(file)) }), file)
  rmSync(work, { recursive: true })
  return file
}

// Makes what users install without npm, from the last `npm run build`: an archive, a package for Debian, a container image,
// their checksums and the list of what is inside. The same commit, Node.js and packages give the same bytes.
// Usage: package.mjs [FOLDER], build/dist if it is missing

import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { makeArchive } from "./package/archive.mjs"
import { makeDebianPackage } from "./package/debian.mjs"
import { commitTime, PROJECT, version } from "./package/facts.mjs"
import { makeImage } from "./package/image.mjs"
import { runtimeComponent } from "./package/runtime.mjs"
import { listContents } from "./package/sbom.mjs"
import { stageTree } from "./package/tree.mjs"

const target = resolve(process.argv[2] ?? join(PROJECT, "build/dist"))

if (process.platform !== "linux" || process.arch !== "x64") {
  console.error("package.mjs makes packages for Linux on x64, with the shared libraries of this system: run it there")
  process.exit(1)
}

rmSync(target, { force: true, recursive: true })
mkdirSync(target, { recursive: true })

const stem = `svcd-${version}-linux-x64`
const tree = join(target, stem)
await stageTree(tree)
const made = [
  makeArchive({ folder: target, name: stem, file: join(target, `${stem}.tar.gz`) }),
  makeDebianPackage({ tree, file: join(target, `svcd_${version}_amd64.deb`) }),
  makeImage({ tree, file: join(target, `svcd-${version}-oci-linux-x64.tar`) }),
  listContents({
    bundles: ["bin", "native/secp256k1"],
    file: join(target, `${stem}.cdx.json`),
    others: [runtimeComponent],
    packages: ["better-sqlite3", "zeromq", "cmake-ts", "secp256k1"],
    time: commitTime()
  })
]
rmSync(tree, { recursive: true })

const sums = made.map((file) => `${createHash("sha256").update(readFileSync(file)).digest("hex")}  ${basename(file)}\n`)
writeFileSync(join(target, "SHA256SUMS"), sums.join(""))
console.log(`${sums.join("")}of ${new Date(commitTime() * 1000).toISOString()}, in ${target}`)

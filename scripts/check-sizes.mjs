// Checks what the entries for browsers weigh in an application: bundled from the sources, minified and compressed by gzip. Prints all
// figures. Usage: check-sizes.mjs

import { buildSync } from "esbuild"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

const ROOT = fileURLToPath(new URL("..", import.meta.url))

/** What an application imports, and the most kilobytes (1,000 bytes) of it. */
const ENTRIES = [
  { name: "verifyNameProof", from: ["verify"], most: 16 },
  { name: "verifyNameProof with signatures", from: ["verify", "verify/signatures"], most: 42 },
  { name: "resolve", from: ["verify"], most: 20 },
  { name: "identity", from: ["verify"], most: 6 },
  { name: "records", from: ["verify"], most: 30 }
]

const bytesOf = ({ from, name }) => {
  const [first] = name.split(" ")
  const contents = from.map((entry, i) => `export ${i === 0 ? `{ ${first} }` : "*"} from "./src/${entry}.ts"`).join(
    "\n"
  )
  const { outputFiles: [bundle] } = buildSync({
    bundle: true,
    format: "esm",
    logLevel: "error",
    minify: true,
    platform: "browser",
    stdin: { contents, loader: "ts", resolveDir: ROOT },
    write: false
  })
  return gzipSync(bundle.contents, { level: 9 }).length
}

let problems = 0
for (const entry of ENTRIES) {
  const kilobytes = bytesOf(entry) / 1_000
  const isOver = kilobytes > entry.most
  if (isOver) problems++
  console.log(`${isOver ? "TOO LARGE " : ""}${entry.name}: ${kilobytes.toFixed(1)} kB of at most ${entry.most} kB`)
}
console.log(`sizes: ${ENTRIES.length} entries, ${problems} problems`)
process.exitCode = problems === 0 ? 0 : 1

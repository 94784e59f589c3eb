// The files through which src reaches what a simulated world replaces (test/simulation). Used by check-imports.mjs.

/** Modules that open sockets or ask the system's resolver, and what of them does neither. */
const NETWORK = ["node:net", "node:tls", "node:dgram", "node:dns", "node:dns/promises", "node:http", "node:https"]
const NO_SOCKET = ["BlockList", "STATUS_CODES", "createSecureContext", "isIP", "isIPv4", "isIPv6"]

/** What of `node:fs` neither writes bytes, nor waits for the thread pool. Of files that it makes, empties or removes, a simulated disk knows nothing. */
const READ_ONLY = [
  "accessSync",
  "chmodSync",
  "closeSync",
  "constants",
  "existsSync",
  "fstatSync",
  "lstatSync",
  "mkdirSync",
  "mkdtempSync",
  "openSync",
  "readdirSync",
  "readFileSync",
  "readSync",
  "rmSync",
  "statSync"
]

/**
 * Each seam: the modules, what all files may import of them (or, with `only`, may not), and the files and folders that may import the rest. Types
 * count for nothing. Servers and clients besides those of peers stay outside the first world.
 */
const SEAMS = [
  {
    modules: NETWORK,
    harmless: NO_SOCKET,
    files: [
      "network/connect/Transport.ts",
      "client/promise/lookup.ts",
      "dns/",
      "electrum/",
      "http/",
      "mail/",
      "metrics/MetricsServer.ts",
      "rpc/webOf.ts",
      "webhooks/"
    ],
    instead: "peers are reached through network/connect/Transport.ts"
  },
  {
    modules: ["node:crypto"],
    only: ["checkPrime", "diffieHellman", "hkdf", "pbkdf2", "scrypt"],
    files: ["wallet/keys/mnemonic.ts", "wallet/keys/seal.ts"],
    instead: "work of the thread pool goes through doAside of base/disk.ts"
  },
  {
    modules: ["node:worker_threads"],
    harmless: ["isMainThread", "parentPort", "workerData"],
    files: ["base/threads.ts"],
    instead: "threads are started by base/threads.ts"
  },
  { modules: ["node:timers", "node:timers/promises"], harmless: [], files: [], instead: "timers are in base/turns.ts" },
  { modules: ["node:perf_hooks"], harmless: [], files: [], instead: "monotonic is in base/clock.ts" },
  {
    modules: ["node:fs", "node:fs/promises"],
    harmless: READ_ONLY,
    files: [
      "base/disk.ts",
      "base/givenFile.ts",
      "bin/",
      "chain/import/importSource.ts",
      "mail/",
      "node/logFile.ts",
      "programs/"
    ],
    instead: "files are written through base/disk.ts"
  }
]

/** Why an import goes round a seam; `undefined` if it does not. `names` is `undefined` for a whole module. */
export const faultOfSeam = ({ file, names, target, typesOnly }) => {
  const seam = SEAMS.find(({ modules }) => modules.includes(target))
  if (seam === undefined || typesOnly || seam.files.some((allowed) => file.startsWith(allowed))) return undefined
  const isHarmless = (name) => seam.only === undefined ? seam.harmless.includes(name) : !seam.only.includes(name)
  return names !== undefined && names.every(isHarmless) ? undefined : seam.instead
}

import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { accessSync, constants, readdirSync, statfsSync, statSync } from "node:fs"
import { join } from "node:path"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import { quantityOf, sizeText } from "../../base/quantities.ts"
import { alertMailOf } from "../../config/alertSettings.ts"
import { AS_NODE_USER } from "../../config/configFile.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import { decodeSettings } from "../../config/decodeSettings.ts"
import { type SettingsInput } from "../../config/gather.ts"
import { missingPart, nativeProblem } from "../../config/nativePart.ts"
import { loadNativeCurve } from "../../consensus/signatureNative.ts"
import { type Check, fail, ok, warn } from "./doctorCheck.ts"
import { NAME } from "./outcome.ts"

export const sqliteCheck = (error: unknown): Check => {
  const [text = "", remedy = "reinstall svcd with the same Node.js"] =
    (nativeProblem(error, "better-sqlite3") ?? missingPart(error))?.split(": ") ??
      ["SQLite (better-sqlite3) does not load"]
  return fail("sqlite", { text, remedy: `${remedy}; neither svcd nor svcd-wallet can start without it` })
}

/** SQLite, without which nothing works, and libsecp256k1, without which verification is slow. */
const nativeChecks: Effect.Effect<ReadonlyArray<Check>> = Effect.promise(async () => {
  const sqlite = await import("better-sqlite3").then(({ default: Database }) => {
    new Database(":memory:").close()
    return ok({ check: "sqlite", text: "SQLite (better-sqlite3) loads" })
  }).catch((error: unknown) => sqliteCheck(error))
  const curve = loadNativeCurve() === undefined
    ? warn("secp256k1", {
      text: "the native libsecp256k1 is missing: signature checks are about thirty times slower",
      remedy: "install the package secp256k1 next to svcd if the first sync takes too long; results are the same"
    })
    : ok({ check: "secp256k1", text: "libsecp256k1 loads" })
  return [ok({ check: "node", text: `Node.js ${process.versions.node}` }), sqlite, curve]
})

/** File systems that lose files, or whose locks SQLite cannot trust, by Linux magic number (`statfs(2)`). */
const FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x517b, "SMB"],
  [0x01021994, "tmpfs"]
])

const GB = 1e9

const LEAST_FREE = 0.3 * GB
const TIGHT_FREE = 3 * GB

const spaceCheck = (path: string): Check => {
  const { bavail, bsize, type } = statfsSync(path)
  const free = bavail * bsize
  const system = process.platform === "linux" ? FILE_SYSTEMS.get(type >>> 0) : undefined
  const text = `${sizeText(free)} free in ${path}`
  if (free < LEAST_FREE) return fail("disk", { text, remedy: "free disk space: svcd stops before the disk is full" })
  if (system !== undefined) {
    return warn("disk", {
      text: `${path} is on ${system}`,
      remedy: system === "tmpfs"
        ? "it is lost at the next reboot: use a directory on disk, with -datadir"
        : "databases are unsafe there: use a directory on a local disk, with -datadir"
    })
  }
  return free < TIGHT_FREE
    ? warn("disk", { text, remedy: "free disk space soon, or use -prune" })
    : ok({ check: "disk", text: text })
}

const OTHERS = 0o077

const modeCheck = (
  { check, path }: { readonly check: string; readonly path: string },
  mode: number
): Check =>
  (mode & OTHERS) === 0
    ? ok({ check, text: `${path} is closed to other users` })
    : warn(check, {
      text: `other users can read ${path} (mode ${(mode & 0o777).toString(8)})`,
      remedy: `chmod go= ${path}`
    })

const ownerCheck = (path: string, uid: number): Check => {
  const me = process.getuid?.()
  return me === undefined || me === uid || me === 0
    ? ok({ check: "owner", text: `${path} belongs to this user` })
    : warn("owner", {
      text: `${path} belongs to another user (${uid})`,
      remedy: "run svcd-cli as the user that runs the node: sudo -u USER svcd-cli …"
    })
}

export const remedyOf = (code: string): string =>
  code === "EROFS"
    ? "mount it writable, or use another directory, with -datadir"
    : `run ${NAME} as the user that runs the node (sudo -u USER ${NAME} …), or use another directory with -datadir`

const attempt = <A>(run: () => A): A | string => {
  try {
    return run()
  } catch (error) {
    return codeOf(error)
  }
}

const MOST_WALLETS = 1_000

const walletFileChecks = (directory: string): ReadonlyArray<Check> => {
  const folder = join(directory, "wallets")
  const named = attempt(() => readdirSync(folder).filter((name) => name.endsWith(".json")))
  const files = typeof named === "string" ? [] : named.slice(0, MOST_WALLETS).map((name) => join(folder, name))
  return [join(directory, "wallet.json"), folder, ...files].flatMap((path) => {
    const found = attempt(() => statSync(path))
    return typeof found === "string" ? [] : [modeCheck({ check: "walletfile", path }, found.mode)]
  })
}

type DataPlace = Pick<ConnectionSettings, "dataDir" | "network">

const settingsChecks = ({ dataDir, network }: DataPlace, input: SettingsInput): ReadonlyArray<Check> => {
  const decoded = decodeSettings({ ...input, argv: ["-network", network, "-datadir", dataDir] })
  if (Either.isLeft(decoded)) {
    return decoded.left.problems.map((problem) => {
      const text = problem.replace(`; ${AS_NODE_USER}`, "")
      return fail("settings", {
        text,
        remedy: text === problem
          ? "svcd would not start: fix svcd.conf or the environment"
          : AS_NODE_USER
      })
    })
  }
  const mail = alertMailOf(decoded.right.alerts)
  return [
    ok({ check: "settings", text: "svcd.conf and the environment are valid" }),
    ...(mail === undefined ? [] : [ok({
      check: "alertmail",
      text: `mail before names expire goes to ${quantityOf(mail.to.length, "address", "addresses")}; ` +
        `"${NAME} testalertmail" sends a test`
    })])
  ]
}

const NO_DIRECTORY = new Map([["ENOTDIR", "it is not a directory"]])

const directoryChecks = (path: string): ReadonlyArray<Check> => {
  const found = attempt(() => statSync(path))
  if (found === "ENOENT" || found === "ENOTDIR") {
    return [warn("datadir", {
      text: `there is no data directory ${path}`,
      remedy: "svcd creates it at startup; -datadir and SVCD_DATA_DIR set another one"
    })]
  }
  if (typeof found === "string" || !found.isDirectory()) {
    const code = typeof found === "string" ? found : "ENOTDIR"
    return [fail("datadir", {
      text: `the data directory ${path} cannot be used: ${reasonOf(code, NO_DIRECTORY)}`,
      remedy: code === "ENOTDIR" ? "set the right directory with -datadir" : remedyOf(code)
    })]
  }
  const unusable = attempt(() => accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK))
  if (typeof unusable === "string") {
    return [
      ownerCheck(path, found.uid),
      fail("datadir", {
        text: `this user cannot read and write ${path}: ${reasonOf(unusable)}`,
        remedy: remedyOf(unusable)
      })
    ]
  }
  const space = attempt(() => spaceCheck(path))
  return [
    ownerCheck(path, found.uid),
    modeCheck({ check: "datadir", path }, found.mode),
    ...walletFileChecks(path),
    ...(typeof space === "string" ? [] : [space])
  ]
}

export const machineChecks = (place: DataPlace, input: SettingsInput): Effect.Effect<ReadonlyArray<Check>> =>
  Effect.map(
    nativeChecks,
    (native) => [...native, ...directoryChecks(place.dataDir), ...settingsChecks(place, input)]
  )

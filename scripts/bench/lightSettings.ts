import { Either } from "effect"
import { homedir } from "node:os"
import process from "node:process"
import { decodeSettings } from "../../src/config/decodeSettings.ts"
import type { Settings } from "../../src/config/settings.ts"

/** Generated chains end in the past: a tip of this age, in seconds, still counts as current. */
export const YEARS = 20 * 365 * 86_400

/** The settings of a node on the network of generated chains, from flags alone. */
export const settingsFor = (directory: string, flags: ReadonlyArray<string>): Settings =>
  Either.getOrThrow(decodeSettings({
    argv: ["-network=regtest", `-datadir=${directory}`, ...flags],
    env: {},
    readFile: () => Either.right(undefined),
    homedir: homedir(),
    cwd: process.cwd(),
    cores: 2
  }))

/** The flags of a node that gets everything from some peers on this machine. */
export const withPeers = (ports: ReadonlyArray<number>): ReadonlyArray<string> => [
  "-listen=",
  `-maxtipage=${YEARS}`,
  ...ports.map((port) => `-addpeer=127.0.0.1:${port}`)
]

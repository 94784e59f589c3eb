import * as Either from "effect/Either"
import { availableParallelism, homedir } from "node:os"
import { formatHostPort } from "../base/addresses.ts"
import type { DecodedConfig } from "../client/config.ts"
import { InvalidConfig } from "../client/errors.ts"
import { decodeSettings, type Settings } from "../config/settings.ts"

/** Threads for script checks: the program around the node needs cores and memory too. */
const MAX_THREADS = 3

/**
 * The settings of a node inside a program: the daemon's defaults with the client's configuration. Neither environment
 * nor svcd.conf is read: only the program's configuration counts.
 */
export const embeddedSettings = (
  { embedded, network }: DecodedConfig,
  cores = availableParallelism()
): Either.Either<Settings, InvalidConfig> => {
  const { bootstrapPeers, dataDir, disableWallet, maxPeers } = embedded
  const argv = [
    `-network=${network}`,
    `-datadir=${dataDir}`,
    // A program that uses names is no server: it connects to peers and accepts no connections.
    "-listen=",
    `-maxpeers=${maxPeers}`,
    `-maxoutbound=${maxPeers}`,
    ...bootstrapPeers.map((address) => `-addpeer=${formatHostPort(address)}`),
    `-verifythreads=${Math.min(cores - 1, MAX_THREADS)}`,
    `-disablewallet=${disableWallet ? 1 : 0}`
  ]
  const input = {
    argv,
    env: {},
    readFile: () => Either.right(undefined),
    homedir: homedir(),
    cwd: process.cwd(),
    cores
  }
  return Either.mapLeft(
    decodeSettings(input),
    ({ problems }) => new InvalidConfig({ field: "config", reason: problems.join("; ") })
  )
}

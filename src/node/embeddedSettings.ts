import * as Either from "effect/Either"
import { availableParallelism, homedir } from "node:os"
import { formatAddress } from "../base/addresses.ts"
import type { DecodedConfig } from "../client/config.ts"
import { InvalidConfig } from "../client/errors.ts"
import { decodeSettings, type Settings } from "../config/settings.ts"

/** Threads that check scripts: the program around the node has uses of its own for cores and memory. */
const MAX_THREADS = 3

/**
 * The settings of a node inside a program: the daemon's defaults, but for what the client's configuration says. Neither
 * environment nor svcd.conf is read: what the program says is all.
 */
export const embeddedSettings = (
  { embedded, network }: DecodedConfig,
  cores = availableParallelism()
): Either.Either<Settings, InvalidConfig> => {
  const { bootstrapPeers, dataDir, disableWallet, maxPeers } = embedded
  const argv = [
    `-network=${network}`,
    `-datadir=${dataDir}`,
    // A program that uses names is nobody's server: it calls peers and is not called.
    "-listen=",
    `-maxpeers=${maxPeers}`,
    `-maxoutbound=${maxPeers}`,
    ...bootstrapPeers.map((address) => `-addpeer=${formatAddress(address)}`),
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

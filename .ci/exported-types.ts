// What an application on Effect exports without writing its types: they have to be ones that its declarations can name.

import { Config, Effect, Layer, Schema } from "effect"
import { AutoClient, LiveChange, NameChange, NameClient, type NameNotFound, SyncReport } from "svcd"
import { type ClientConfig, newClient } from "svcd/promise"
import { layerMemory, layerRegtest, MemoryNames, RegtestNode } from "svcd/testing"

export const NamesLive = NameClient.layer({})
export const DaemonLive = NameClient.layerDaemon({ network: "regtest", timeout: "10 seconds" })
export const LazyLive = NameClient.layerDaemonLazy()
export const EmbeddedLive = NameClient.layerEmbedded({ dataDir: "./names", maxPeers: 0 })
export const ConfiguredLive = NameClient.layerConfig({
  dataDir: Config.string("NAMES_DIR"),
  rpcPassword: Config.redacted("NAMES_PASSWORD"),
  timeout: Config.duration("NAMES_TIMEOUT")
})

/** The name before 0.3. */
export const OldLive = AutoClient.layer({})

/** Of README.md. */
export const program = Effect.gen(function*() {
  const names = yield* NameClient
  yield* names.ready()
  const { value } = yield* names.resolveName("d/example")
  yield* Effect.log(value)
})

export const resolve = (name: string) => Effect.flatMap(NameClient, (names) => names.resolveName(name))

export const valueOf = (name: string) =>
  resolve(name).pipe(
    Effect.map(({ value }) => value),
    Effect.catchTags({ NameNotFound: missing, NameExpired: missing })
  )

const missing = ({ requested }: Pick<NameNotFound, "requested">) => Effect.succeed(`${requested} has no value`)

export const register = (name: string, value: string) =>
  Effect.flatMap(NameClient, (names) => names.registerName(name, value, { waitFor: "registered" }))

export const domains = Effect.flatMap(NameClient, (names) => names.listNames({ namespace: "d/" }))

export const found = Effect.map(NameClient, (names) => names.findNames({ key: "ip" }))

export const changes = Effect.map(NameClient, (names) => names.changes({ from: "0" }))

export const live = Effect.map(NameClient, (names) => names.changes({ types: ["pending"] }))

/** What a service of its own tells. */
export const Told = Schema.Union(NameChange, LiveChange, SyncReport)

export const progress = Effect.map(NameClient, ({ progress }) => progress)

export const all = Layer.effectDiscard(program).pipe(Layer.provide(NamesLive))

/** An embedded node fails with nothing of a daemon, and a daemon with nothing of a data directory. */
export const embeddedTags: ReadonlyArray<Layer.Layer.Error<typeof EmbeddedLive>["_tag"]> = [
  "DataDirectoryInUse",
  "DataDirectoryUnusable",
  "InvalidConfig",
  "StorageCorrupted",
  "StorageUnavailable",
  "WalletDamaged",
  "WrongNetwork"
]
export const daemonTags: ReadonlyArray<Layer.Layer.Error<typeof DaemonLive>["_tag"]> = [
  "DaemonNotReady",
  "DaemonRefused",
  "DaemonUnreachable",
  "InvalidConfig",
  "Unauthorized"
]
// @ts-expect-error: the layer has no such failure
export const noDaemon: Layer.Layer.Error<typeof EmbeddedLive>["_tag"] = "DaemonUnreachable"
// @ts-expect-error: the layer has no such failure
export const noDirectory: Layer.Layer.Error<typeof DaemonLive>["_tag"] = "DataDirectoryInUse"

export const open = async (config: ClientConfig) => {
  const client = await newClient(config)
  return { client, record: await client.resolveName("d/example") }
}

export const MemoryLive = layerMemory({ "d/example": "{}" })
export const expired = Effect.flatMap(MemoryNames, (memory) => memory.expire("d/example"))
export const RegtestLive = layerRegtest()
export const mined = Effect.flatMap(RegtestNode, (node) => node.mine())

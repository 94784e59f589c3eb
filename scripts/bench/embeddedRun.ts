// One run of the embedded client, in a process of its own, with the bundled library, as a user of the package has it.
// Usage: embeddedRun.js DATADIR NAMES (JSON)

const [dataDir = "", names = "[]"] = process.argv.slice(2)
const known: ReadonlyArray<string> = JSON.parse(names)
const config = { network: "regtest", dataDir, maxPeers: 0 } as const

const CALLS = 200_000
/** Calls that a program has under way at once, where it does not wait for each. */
const AT_ONCE = 100

const nameOf = (n: number): string => known[n % known.length] ?? ""

const perSecond = (calls: number, started: number): number => Math.round(calls / ((performance.now() - started) / 1000))

// The modules that a program loads before it has a client are part of its start.
const { newEmbeddedClient } = await import("svcd/promise")
const opening = performance.now()
const client = await newEmbeddedClient(config)
await client.resolveName(nameOf(0))
const coldStartMs = Math.round(performance.now())
const openMs = Math.round(performance.now() - opening)

const oneByOne = async (calls: number): Promise<number> => {
  const started = performance.now()
  for (let n = 0; n < calls; n++) await client.resolveName(nameOf(n))
  return perSecond(calls, started)
}

const together = async (calls: number): Promise<number> => {
  const started = performance.now()
  for (let n = 0; n < calls; n += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => client.resolveName(nameOf(n + i))))
  }
  return perSecond(calls, started)
}

await oneByOne(CALLS / 10)
const promisesPerSecond = await oneByOne(CALLS)
const concurrentPromisesPerSecond = await together(CALLS)
await client.close()

// Not before: the program above does without the package.
const { Effect, Layer, Logger } = await import("effect")
const { EmbeddedNode, NameClient } = await import("svcd")

const effectPerSecond = await Effect.gen(function*() {
  const client = yield* NameClient
  for (let n = 0; n < CALLS / 10; n++) yield* client.resolveName(nameOf(n))
  const started = performance.now()
  for (let n = 0; n < CALLS; n++) yield* client.resolveName(nameOf(n))
  return perSecond(CALLS, started)
}).pipe(
  Effect.provide(Layer.provideMerge(EmbeddedNode.layer(config), Logger.remove(Logger.defaultLogger))),
  Effect.runPromise
)

process.stdout.write(
  JSON.stringify({ coldStartMs, openMs, effectPerSecond, promisesPerSecond, concurrentPromisesPerSecond })
)

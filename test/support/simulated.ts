import { it } from "@effect/vitest"
import { Cause, type Duration, Effect, type Exit, Exit as Exits, type Scope } from "effect"
import { noThreads, Threads } from "../../src/base/threads.ts"
import { Transport, type TransportService } from "../../src/network/connect/Transport.ts"
import { SimNetwork } from "../simulation/net/SimNetwork.ts"
import { listenAt, transportOf } from "../simulation/net/transport.ts"
import { streamOf } from "../simulation/seed.ts"
import { Machine } from "../simulation/virtual/Machine.ts"
import { BEGINNING } from "../simulation/virtual/SimClock.ts"
import { Loopback, type LoopbackService, type RemoteSocket } from "./Loopback.ts"

/**
 * Tests in virtual time, on a simulated network (`test/simulation`): waiting costs nothing, whatever the machine has to do
 * besides, and the order of tasks comes from the test's name, the same in each run. `eventually` waits for virtual time.
 */

/** The host on which a test and its nodes run. */
const HERE = "127.0.0.1"

/** FNV-1a over the name of a test. */
const seedOf = (name: string): number =>
  [...name].reduce((hash, letter) => Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0, 0x811c9dc5)

export interface SimulatedOptions {
  /** The time of day at which the test begins, milliseconds since 1970. */
  readonly now?: number
}

/** All addresses of loopback are one host, with one set of ports: a machine has one set for each address. */
const homeOf = (host: string): string =>
  host.startsWith("127.") || ["", "0.0.0.0", "localhost"].includes(host) ? HERE : host

const transportAt = (network: SimNetwork): TransportService => {
  const transport = transportOf(network, HERE)
  return {
    ...transport,
    dial: (target) => transport.dial("path" in target ? target : { ...target, host: homeOf(target.host) })
  }
}

const loopbackOf = (network: SimNetwork): LoopbackService => ({
  connect: (to, from = HERE) =>
    Effect.acquireRelease(
      Effect.async<RemoteSocket>((resume) => {
        network.dial(from, { ...to, host: homeOf(to.host) }, {
          connected: (socket) => resume(Effect.succeed(socket)),
          failed: (code) => resume(Effect.dieMessage(`${to.host}:${to.port} cannot be called: ${code}`))
        })
      }),
      (socket) => Effect.sync(() => socket.destroy())
    ),
  listen: (address, accept) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const bound = listenAt(network, { ...address, host: homeOf(address.host) }, accept)
        return bound === undefined ? Effect.dieMessage(`port ${address.port} is taken`) : Effect.succeed(bound)
      }),
      ({ stop }) => Effect.sync(stop)
    ).pipe(Effect.map(({ port }) => ({ ...address, port }))),
  freePort: Effect.suspend(() => {
    const port = network.freePort(HERE)
    return port === undefined ? Effect.dieMessage("all ports are taken") : Effect.succeed(port)
  })
})

const answerOf = <E>(exit: Exit.Exit<void, E> | undefined, { failure, trace }: Machine): void => {
  if (exit !== undefined && Exits.isSuccess(exit) && failure === undefined) return
  if (exit !== undefined && Exits.isFailure(exit)) throw Cause.squash(exit.cause)
  const last = trace.last.slice(-20).map(({ what, who }) => `${who}: ${what}`)
  throw new Error([`${failure?.what}: ${failure?.reason}`, failure?.stack ?? "", ...last].join("\n"))
}

/** Runs an effect in a world of its own. */
export const inWorld = async <E>(
  name: string,
  use: Effect.Effect<void, E, Scope.Scope>,
  { now = BEGINNING }: SimulatedOptions = {}
): Promise<void> => {
  const machine = new Machine({ seed: seedOf(name), offset: now - BEGINNING })
  const { clock } = machine.world
  const network = new SimNetwork({
    time: { now: () => machine.timeline.now, after: (nanos, task) => clock.after(nanos, task) },
    streamOf: (stream) => streamOf(seedOf(name), `network:${stream}`),
    observe: ({ from, to, type }) => machine.note("network", type, { from, to })
  })
  const exit = await machine.run(
    Effect.scoped(use).pipe(
      Effect.provideService(Transport, transportAt(network)),
      Effect.provideService(Threads, noThreads),
      Effect.provideService(Loopback, loopbackOf(network))
    )
  )
  answerOf(exit, machine)
}

/** Lets virtual time pass. */
export const pass = (time: Duration.DurationInput): Effect.Effect<void> => Effect.sleep(time)

/** A test in virtual time. `use` runs inside: what it makes before has real time. */
export const simulated = <E>(
  name: string,
  use: () => Effect.Effect<void, E, Scope.Scope>,
  options?: SimulatedOptions
): void => it.live(name, () => Effect.promise(() => inWorld(name, Effect.suspend(use), options)))

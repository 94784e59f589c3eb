import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { createSocket } from "node:dgram"
import { notifySecondaries } from "../../../src/dns/transfer/notify.ts"
import { Secondaries } from "../../../src/dns/transfer/Secondaries.ts"
import { eventually } from "../../support/eventually.ts"
import { apexAt } from "./zones.ts"

const silentSecondary = Effect.acquireRelease(
  Effect.async<ReturnType<typeof createSocket>>((resume) => {
    const socket = createSocket("udp4")
    socket.bind(0, "127.0.0.1", () => resume(Effect.succeed(socket)))
  }),
  (socket) => Effect.sync(() => socket.close())
)

/** Sockets for UDP that keep the process alive. */
const openSockets = () => process.getActiveResourcesInfo().filter((kind) => kind === "UDPWrap").length

describe("notices to a secondary that does not answer", () => {
  // The clock of tests stands still: no wait for the secondary can end by itself.
  it.scoped("end with the node at once, and leave no socket that keeps the process alive", () =>
    Effect.gen(function*() {
      const secondary = yield* silentSecondary
      const before = openSockets()
      assert.isAbove(before, 0)
      const told = new Promise<number>((resolve) => void secondary.once("message", ({ length }) => resolve(length)))
      const scope = yield* Scope.make()
      yield* notifySecondaries({
        targets: [{ address: { host: "127.0.0.1", port: secondary.address().port }, key: undefined }],
        apex: apexAt,
        serials: { after: (known) => known === 7 ? Effect.never : Effect.succeed(7) },
        complete: Effect.succeed(true),
        secondaries: new Secondaries()
      }).pipe(Scope.extend(scope))
      assert.isAbove(yield* Effect.promise(() => told), 12)
      assert.strictEqual(openSockets(), before + 1)
      yield* Scope.close(scope, Exit.void)
      yield* eventually("the socket is closed", () => openSockets() === before)
    }))
})

import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import * as AlertFile from "../../../../src/alerts/AlertFile.ts"
import { ExpiringNames } from "../../../../src/alerts/ExpiringNames.ts"
import { runExpiryAlerts } from "../../../../src/alerts/ExpiryAlerts.ts"
import { AlertMail } from "../../../../src/alerts/mail/AlertMail.ts"
import { type MailNotice, queuesOf, withNotices } from "../../../../src/alerts/mail/mailQueue.ts"
import { WatchList } from "../../../../src/alerts/WatchList.ts"
import * as Scheduler from "../../../../src/base/Scheduler.ts"
import { SyncStatus } from "../../../../src/chain/SyncStatus.ts"
import { NameAnswers } from "../../../../src/light/NameAnswers.ts"
import { ownNames } from "../../../../src/metrics/alertMetrics.ts"
import { alertLine, alertsOf } from "../../../../src/programs/cli/outlooks.ts"
import * as DataHealth from "../../../../src/storage/DataHealth.ts"
import { servicesOf, temporaryDirectory } from "../../../support/chain.ts"
import { layer } from "../../../support/layer.ts"
import { MethodNode, methodNode } from "../../../support/methodNode.ts"

/** On regtest, a name lives for 30 blocks, and is due 3 blocks before its end. */

layer(methodNode({ blocks: false, wallets: true }))("a name of a locked wallet", (it) => {
  it.effect("is in danger, lost, and taken: all answers, the mail and the metric say the same", () =>
    Effect.gen(function*() {
      const { call, chain, expiring, on, status, watch } = yield* MethodNode
      yield* call("unloadwallet", "")
      for (const name of ["owner", "rival"]) yield* call("createwallet", name)
      const [owner, rival] = [on("owner"), on("rival")]
      const [ownerAddress, rivalAddress] = yield* Effect.forEach(
        [owner, rival],
        (each) => Effect.map(each.call("getnewaddress"), ({ value }) => String(value))
      )
      yield* call("generatetoaddress", 2, ownerAddress)
      yield* call("generatetoaddress", 101, rivalAddress)
      const mine = (count: number) => call("generatetoaddress", count, rivalAddress)
      const registered = (by: typeof owner, value: string) =>
        Effect.gen(function*() {
          yield* by.call("name_new", "d/home")
          yield* mine(12)
          yield* by.call("name_firstupdate", "d/home", undefined, undefined, value)
          yield* mine(1)
        })
      yield* registered(owner, "ours")
      yield* owner.call("name_autorenew", "d/home", true)

      const mailed: Array<MailNotice> = []
      const file = join(yield* temporaryDirectory, "alerts.json")
      const look = Effect.scoped(runExpiryAlerts({ isPending: () => false })).pipe(
        Effect.provide(Layer.mergeAll(
          AlertFile.layer(file).pipe(Layer.provide(DataHealth.layer)),
          Layer.mock(AlertMail, {
            run: Effect.void,
            queued: (queues, notices) => {
              mailed.push(...notices)
              return withNotices(queuesOf(queues, ["a@x.example"]), notices)
            }
          }),
          Layer.succeed(ExpiringNames, expiring),
          Layer.succeed(WatchList, watch),
          Layer.succeed(SyncStatus, status),
          servicesOf(chain),
          Layer.mock(NameAnswers, {
            fromWindow: () => false,
            atOnce: () => undefined,
            proofOfAbsence: () => "full",
            complete: Effect.succeed(true)
          }),
          Scheduler.layer
        ))
      )

      /** The state of the owner's name everywhere, and the mail since the last look. */
      const seen = Effect.gen(function*() {
        mailed.length = 0
        yield* look
        yield* look
        const [listed] = Object((yield* owner.call("name_list", "d/home")).value)
        const { json } = yield* owner.call("name_alerts", { nameEncoding: "hex" })
        const lines = alertsOf(json).map((alert) => alertLine(alert, "svcd-cli"))
        const { state, text, urgency } = listed.outlook
        assert.strictEqual(ownNames.of(state).value(), 1, `the metric of ${state}`)
        return { state, text, urgency, lines, mail: mailed.map(({ outlook }) => outlook) }
      })
      const alarm = (state: string, text: string, remedy: string, mail: boolean) => ({
        state,
        text,
        urgency: "alarm",
        lines: [`d/home ${text}: ${remedy}`],
        mail: mail ? [{ state, text, wallet: "owner" }] : []
      })

      assert.deepInclude(yield* seen, { state: "renews", urgency: "ok", lines: [], mail: [] })
      yield* owner.call("encryptwallet", "secret")
      yield* mine(27)
      const unlock = "\"svcd-cli unlock -renewals\" unlocks the wallet for renewals"
      const locked = "would renew automatically, but the wallet is locked; it expires in 3 blocks"
      assert.deepStrictEqual(yield* seen, { ...alarm("locked", locked, unlock, true), urgency: "warning" })
      assert.deepStrictEqual(yield* seen, { ...alarm("locked", locked, unlock, false), urgency: "warning" })
      yield* mine(3)
      const dismiss = "\"svcd-cli dismiss d/home\" ends this warning"
      const free = "expired with the last block: it is lost, but free to register again"
      assert.deepStrictEqual(
        yield* seen,
        alarm("free", free, `"svcd-cli register d/home" registers it; ${dismiss}`, true)
      )
      yield* registered(rival, "theirs")
      const taken = "expired 13 blocks ago: it is lost, and another owner has registered it"
      assert.deepStrictEqual(yield* seen, alarm("taken", taken, dismiss, false))
      assert.strictEqual(Object((yield* call("name_show", "d/home")).value).value, "theirs")
      yield* owner.call("name_acknowledge", "d/home")
      assert.deepInclude(yield* seen, { state: "taken", lines: [], mail: [] })
    }).pipe(Effect.scoped))
})

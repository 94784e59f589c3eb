import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { type Lease, Slots } from "../../../src/network/sync/Slots.ts"

describe("Slots", () => {
  it("all that wait are notified of a free slot once, except those that gave up", () => {
    const slots = new Slots(1)
    const heard: Array<string> = []
    const lease = slots.take()
    slots.whenFreed(() => heard.push("first"))
    slots.whenFreed(() => heard.push("gone"))()
    slots.whenFreed(() => heard.push("second"))
    lease?.release()
    slots.take()?.release()
    assert.deepStrictEqual(heard, ["first", "second"])
  })

  it("a slot is free again once, however often its lease is released", () => {
    const slots = new Slots(2)
    const [first, second] = [slots.take(), slots.take()]
    assert.isUndefined(slots.take())
    first?.release()
    first?.release()
    assert.strictEqual(slots.used, 1)
    assert.isDefined(slots.take())
    assert.isFalse(slots.isRoom)
    first?.release()
    assert.strictEqual(slots.used, 2)
    second?.release()
    assert.strictEqual(slots.used, 1)
  })

  it("only the new owner of a slot can release it", () => {
    const slots = new Slots(1)
    const old = slots.take()
    const lease = old?.handOver()
    old?.release()
    assert.strictEqual(slots.used, 1)
    lease?.release()
    assert.strictEqual(slots.used, 0)
    // A released lease has nothing to hand over.
    lease?.handOver().release()
    old?.handOver().release()
    assert.strictEqual(slots.used, 0)
  })

  it("property: the slots in use are those with an owner, from 0 to the limit", () => {
    const step = FastCheck.record({
      what: FastCheck.constantFrom("take", "release", "hand over"),
      which: FastCheck.nat(30)
    })
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(8), FastCheck.array(step, { maxLength: 200 }), (limit, steps) => {
        const slots = new Slots(limit)
        const leases: Array<Lease> = []
        const owned = new Set<Lease>()
        for (const { what, which } of steps) {
          const lease = what === "take" ? slots.take() : leases[which % Math.max(leases.length, 1)]
          if (what === "take") {
            assert.strictEqual(lease !== undefined, owned.size < limit)
            if (lease !== undefined) owned.add(lease)
          } else if (what === "release") {
            lease?.release()
            if (lease !== undefined) owned.delete(lease)
          } else if (lease !== undefined) {
            const next = lease.handOver()
            leases.push(next)
            if (owned.delete(lease)) owned.add(next)
          }
          if (what === "take" && lease !== undefined) leases.push(lease)
          assert.strictEqual(slots.used, owned.size)
          assert.isAtLeast(slots.used, 0)
          assert.isAtMost(slots.used, limit)
        }
      })
    )
  })
})

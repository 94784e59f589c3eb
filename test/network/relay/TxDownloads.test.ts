import { assert, describe, it } from "@effect/vitest"
import type { RejectionKind } from "../../../src/mempool/errors.ts"
import { MAX_PARENTS, TxDownloads } from "../../../src/network/relay/TxDownloads.ts"
import { DELAY, type HashKind, MAX_ANNOUNCEMENTS } from "../../../src/network/relay/TxRequests.ts"
import { binaryString, displayHash } from "../../../src/protocol/bytes.ts"
import { peerId } from "../../../src/protocol/keys.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { FakePool } from "./fakePool.ts"
import { seeded } from "./random.ts"
import { coinOf, keyBytes, nowhere, spend } from "./spends.ts"

/** Downloads with a preferred peer 1 and a peer 2 that is not; both use wtxids. */
const setup = () => {
  const pool = new FakePool()
  const downloads = new TxDownloads({
    has: (txid) => pool.get(txid) !== undefined,
    hasWtxid: (wtxid) => pool.getByWtxid(wtxid) !== undefined
  }, seeded(1))
  downloads.connected(peerId(1), { preferred: true, wtxidRelay: true })
  downloads.connected(peerId(2), { preferred: false, wtxidRelay: true })
  return { pool, downloads }
}

type Setup = ReturnType<typeof setup>

/** Whether a peer that announces a transaction is asked for it. */
const isAsked = ({ downloads }: Setup, transaction: Transaction, kind: HashKind = "wtxid"): boolean => {
  const hash = kind === "wtxid" ? transaction.wtxid : transaction.txid
  downloads.announced(peerId(1), { hash, kind, now: 0 })
  const asked = downloads.requests(peerId(1), 10 * DELAY).some((request) => request.hash === binaryString(hash))
  downloads.notFound(peerId(1), hash, kind)
  return asked
}

const reject = (
  { downloads }: Setup,
  transaction: Transaction,
  kind: RejectionKind,
  reason = "",
  retry = false,
  peer = 1
) => downloads.rejected(peerId(peer), transaction, { refusal: { kind, reason }, retry, now: 0 }).parents

const witnessed = (seed: number): Transaction => spend({ seed, witness: [Uint8Array.of(seed)] })

describe("TxDownloads", () => {
  it("an announced transaction that is not stored is requested", () => {
    const node = setup()
    const transaction = witnessed(1)
    assert.isTrue(isAsked(node, transaction))
    node.pool.add(transaction)
    assert.isFalse(isAsked(node, transaction))
    assert.isFalse(isAsked(node, transaction, "txid"))
    const other = spend({ seed: 1, witness: [Uint8Array.of(9)] })
    assert.isTrue(isAsked(node, other), "with another witness it is another one")
  })

  it("a transaction that arrived from another source is not requested", () => {
    const node = setup()
    const transaction = spend({ seed: 1 })
    node.downloads.announced(peerId(2), { hash: transaction.wtxid, kind: "wtxid", now: 0 })
    node.pool.add(transaction)
    assert.deepStrictEqual(node.downloads.requests(peerId(2), DELAY), [])
    assert.deepStrictEqual(node.downloads.peersDue(DELAY), [])
  })

  describe("refused transactions", () => {
    const refused: ReadonlyArray<[RejectionKind, string, "plain" | "witness", boolean, boolean]> = [
      ["consensus", "bad-txns-vin-empty", "witness", true, false],
      ["policy", "dust", "plain", true, true],
      ["policy", "bad-txns-nonstandard-inputs", "witness", true, true],
      ["underpaid", "mempool min fee not met", "witness", true, false],
      ["premature", "non-final", "witness", true, false],
      ["witness", "bad-witness-nonstandard", "witness", true, false],
      ["witness", "bad-witness-nonstandard", "plain", false, false]
    ]
    it.each(refused)("%s (%s) of one with %s: known by wtxid %s, by txid %s", (kind, reason, form, byWtxid, byTxid) => {
      const node = setup()
      const transaction = form === "plain" ? spend({ seed: 1 }) : witnessed(1)
      assert.isTrue(node.downloads.isNews(transaction))
      reject(node, transaction, kind, reason)
      assert.strictEqual(node.downloads.isNews(transaction), !byWtxid)
      assert.strictEqual(isAsked(node, transaction), !byWtxid)
      assert.strictEqual(isAsked(node, transaction, "txid"), !byTxid)
      node.downloads.tipChanged()
      assert.isTrue(node.downloads.isNews(transaction))
    })

    it("a refused copy of a mempool transaction is not remembered as refused", () => {
      const node = setup()
      const transaction = spend({ seed: 1 })
      node.pool.add(transaction)
      reject(node, transaction, "conflict", "txn-already-in-mempool")
      node.pool.remove(transaction)
      assert.isTrue(node.downloads.isNews(transaction))
    })
  })

  describe("orphans", () => {
    it("an orphan with too many missing parents is not kept", () => {
      const parents = Array.from({ length: MAX_PARENTS + 1 }, (_, i) => spend({ seed: 1_000 + i }))
      const coins = parents.map((parent) => coinOf(parent))
      const node = setup()
      assert.lengthOf(reject(node, spend({ seed: 1, of: coins }), "missing-inputs"), 0)
      assert.strictEqual(node.downloads.orphanCount, 0)
      assert.lengthOf(node.downloads.requests(peerId(1), 10 * DELAY), 0)
      // Known parents do not count, nor do repeated ones.
      for (const parent of parents.slice(1)) node.pool.add(parent)
      const child = spend({
        seed: 2,
        of: [...coins, ...coins.map((_, i) => coinOf(parents[0] ?? assert.fail(), i + 1))]
      })
      assert.lengthOf(reject(node, child, "missing-inputs"), 1)
      assert.strictEqual(node.downloads.orphanCount, 1)
      const other = spend({
        seed: 3,
        of: Array.from({ length: MAX_PARENTS }, (_, i) => coinOf(spend({ seed: 5_000 + i })))
      })
      assert.lengthOf(reject(node, other, "missing-inputs"), MAX_PARENTS)
      assert.strictEqual(node.downloads.orphanCount, 2)
    })

    it("missing parents of an orphan are requested from its peer, by txid", () => {
      const node = setup()
      const [known, missing] = [spend({ seed: 1 }), spend({ seed: 2, outputs: 2 })]
      node.pool.add(known)
      const orphan = spend({ seed: 3, of: [coinOf(known), coinOf(missing), coinOf(missing, 1)] })
      const parents = reject(node, orphan, "missing-inputs")
      assert.deepStrictEqual(parents.map(displayHash), [displayHash(missing.txid)])
      assert.strictEqual(node.downloads.orphanCount, 1)
      assert.deepStrictEqual(node.downloads.requests(peerId(1), DELAY - 1), [])
      const [request, ...more] = node.downloads.requests(peerId(1), DELAY)
      assert.deepStrictEqual(more, [])
      assert.strictEqual(request?.kind, "txid")
      assert.deepStrictEqual(keyBytes(request?.hash ?? ""), missing.txid)
      assert.isFalse(node.downloads.isNews(orphan))
    })

    it("missing parents of an orphan are requested from each further announcer", () => {
      const node = setup()
      const missing = spend({ seed: 2 })
      const orphan = spend({ seed: 3, of: [coinOf(missing)] })
      reject(node, orphan, "missing-inputs")
      node.downloads.announced(peerId(2), { hash: orphan.wtxid, kind: "wtxid", now: 0 })
      node.downloads.requests(peerId(1), 2 * DELAY)
      node.downloads.notFound(peerId(1), missing.txid, "txid")
      assert.deepStrictEqual(node.downloads.requests(peerId(2), 2 * DELAY).map(({ hash }) => hash), [missing.txidKey])
      node.downloads.gone(peerId(1))
      assert.strictEqual(node.downloads.orphanCount, 1)
      node.downloads.gone(peerId(2))
      assert.strictEqual(node.downloads.orphanCount, 0)
    })

    it("missing parents of an orphan are requested from peers that announced it earlier", () => {
      const node = setup()
      const missing = spend({ seed: 2 })
      const orphan = witnessed(3)
      const child = spend({ seed: 3, of: [coinOf(missing)], witness: [Uint8Array.of(1)] })
      assert.notDeepEqual(child.txid, orphan.txid)
      node.downloads.announced(peerId(2), { hash: child.wtxid, kind: "wtxid", now: 0 })
      node.downloads.received(peerId(1), child)
      reject(node, child, "missing-inputs")
      node.downloads.gone(peerId(1))
      assert.strictEqual(node.downloads.orphanCount, 1)
      assert.deepStrictEqual(node.downloads.requests(peerId(2), 2 * DELAY).map(({ hash }) => hash), [missing.txidKey])
    })

    it("orphans are retried when a parent arrives, and removed when they are validated", () => {
      const node = setup()
      const missing = spend({ seed: 2, outputs: 2 })
      const [good, bad] = [0, 1].map((i) => spend({ seed: 3 + i, of: [coinOf(missing, i)] }))
      if (good === undefined || bad === undefined) return assert.fail()
      reject(node, good, "missing-inputs")
      reject(node, bad, "missing-inputs")
      node.pool.add(missing)
      node.downloads.accepted(missing)
      assert.strictEqual(node.downloads.nextRetry()?.transaction, good)
      node.downloads.accepted(good)
      assert.strictEqual(node.downloads.nextRetry()?.transaction, bad)
      reject(node, bad, "policy", "dust", true)
      assert.isUndefined(node.downloads.nextRetry())
      assert.strictEqual(node.downloads.orphanCount, 0)
      assert.isFalse(node.downloads.isNews(bad))
    })

    it("orphans stay while another parent is missing", () => {
      const node = setup()
      const parents = [spend({ seed: 1 }), spend({ seed: 2 })]
      const orphan = spend({ seed: 3, of: parents.map((parent) => coinOf(parent)) })
      reject(node, orphan, "missing-inputs")
      node.downloads.accepted(parents[0] ?? assert.fail())
      assert.strictEqual(node.downloads.nextRetry()?.transaction, orphan)
      assert.deepStrictEqual(reject(node, orphan, "missing-inputs", "", true), [])
      assert.strictEqual(node.downloads.orphanCount, 1)
    })

    it("an orphan is not kept if a parent was refused, whatever its witness", () => {
      const node = setup()
      const parent = spend({ seed: 1 })
      reject(node, parent, "policy", "dust")
      const orphan = spend({ seed: 2, of: [coinOf(parent)], witness: [Uint8Array.of(1)] })
      assert.deepStrictEqual(reject(node, orphan, "missing-inputs"), [])
      assert.strictEqual(node.downloads.orphanCount, 0)
      assert.isFalse(isAsked(node, orphan))
      assert.isFalse(isAsked(node, orphan, "txid"))
    })

    describe("with a parent that was refused for its fee alone", () => {
      const family = (seed: number) => {
        const parent = spend({ seed })
        return { parent, child: spend({ seed: seed + 1, of: [coinOf(parent)], witness: [Uint8Array.of(1)] }) }
      }

      const underpaid = ({ downloads }: Setup, transaction: Transaction, peer = 1) =>
        downloads.rejected(peerId(peer), transaction, {
          refusal: { kind: "underpaid", reason: "min relay fee not met" },
          retry: false,
          now: 0
        }).child

      it("are offered with it, if they are of the same peer", () => {
        const node = setup()
        const { child, parent } = family(1)
        reject(node, child, "missing-inputs")
        assert.isUndefined(underpaid(node, parent, 2))
        assert.strictEqual(underpaid(node, parent), child)
        assert.isFalse(node.downloads.isNews(parent), "it is not judged alone again")
        assert.strictEqual(node.downloads.childFor(peerId(1), parent), child)
        node.downloads.packageRejected(parent, child)
        assert.isUndefined(node.downloads.childFor(peerId(1), parent))
        node.downloads.tipChanged()
        assert.isTrue(node.downloads.isNews(parent))
      })

      it("are tried newest first", () => {
        const node = setup()
        const { child, parent } = family(1)
        const newer = spend({ seed: 9, of: [coinOf(parent)] })
        reject(node, child, "missing-inputs")
        reject(node, newer, "missing-inputs")
        assert.strictEqual(underpaid(node, parent), newer)
        node.downloads.packageRejected(parent, newer)
        assert.strictEqual(node.downloads.childFor(peerId(1), parent), child)
        reject(node, child, "policy", "dust", true)
        assert.isUndefined(node.downloads.childFor(peerId(1), parent))
      })

      it("are kept, and the parent is requested again for them", () => {
        const node = setup()
        const { child, parent } = family(1)
        underpaid(node, parent)
        assert.isFalse(isAsked(node, parent), "not when a peer announces it")
        assert.deepStrictEqual(reject(node, child, "missing-inputs").map(displayHash), [displayHash(parent.txid)])
        assert.strictEqual(node.downloads.orphanCount, 1)
        assert.deepStrictEqual(node.downloads.requests(peerId(1), DELAY).map(({ hash }) => hash), [parent.txidKey])
      })

      it("are not kept if there are two of them: a child can pay for one", () => {
        const node = setup()
        const parents = [1, 2].map((seed) => spend({ seed }))
        for (const parent of parents) underpaid(node, parent)
        const child = spend({ seed: 3, of: parents.map((parent) => coinOf(parent)) })
        assert.deepStrictEqual(reject(node, child, "missing-inputs"), [])
        assert.strictEqual(node.downloads.orphanCount, 0)
        assert.isFalse(node.downloads.isNews(child))
      })
    })

    it("an orphan of a disconnected peer is not kept", () => {
      const node = setup()
      node.downloads.gone(peerId(1))
      reject(node, spend({ seed: 2 }), "missing-inputs")
      assert.strictEqual(node.downloads.orphanCount, 0)
    })

    it("an orphan of a peer at the announcement limit is not kept", () => {
      const node = setup()
      for (let i = 0; i < MAX_ANNOUNCEMENTS; i++) {
        const hash = new Uint8Array(32)
        new DataView(hash.buffer).setUint32(0, i)
        node.downloads.announced(peerId(1), { hash, kind: "wtxid", now: 0 })
      }
      reject(node, spend({ seed: 2 }), "missing-inputs")
      assert.strictEqual(node.downloads.orphanCount, 0)
      reject(node, spend({ seed: 2 }), "missing-inputs", "", false, 2)
      assert.strictEqual(node.downloads.orphanCount, 1)
    })

    it("an orphan does not prevent a request by txid for another witness", () => {
      const node = setup()
      const orphan = witnessed(3)
      reject(node, orphan, "missing-inputs")
      assert.isFalse(isAsked(node, orphan))
      assert.isTrue(isAsked(node, orphan, "txid"))
    })
  })

  it("a confirmed transaction is not requested, until a block is disconnected", () => {
    const node = setup()
    const [transaction, orphan] = [witnessed(1), spend({ seed: 5, of: [nowhere(1)] })]
    reject(node, orphan, "missing-inputs")
    node.downloads.blockConnected([transaction])
    assert.strictEqual(node.downloads.orphanCount, 0)
    assert.isFalse(isAsked(node, transaction))
    assert.isFalse(isAsked(node, transaction, "txid"))
    node.downloads.tipChanged()
    assert.isFalse(isAsked(node, transaction))
    node.downloads.blockDisconnected()
    assert.isTrue(isAsked(node, transaction))
  })
})

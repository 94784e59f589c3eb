import * as Effect from "effect/Effect"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { makeCompactBlock } from "../wire/compactBlock.ts"
import type { Message } from "../wire/message.ts"
import type { CmpctBlock } from "../wire/messages/compact.ts"
import { headersSize, isTooLongHeaders } from "../wire/messages/headers.ts"
import { ItemType } from "../wire/messages/inv.ts"
import { type Announcement, announcementFor, freshBlocks } from "./announcement.ts"
import type { SyncContext, SyncPeer } from "./SyncContext.ts"

/** Announces the tip to all peers, each in its preferred form. */
export class Announcer {
  private readonly context: SyncContext
  /** The last announced tip; initially the tip at the start. */
  private announced: HeaderId
  /** The compact form of a block, shared by all peers. */
  private compact: { readonly id: HeaderId; readonly message: CmpctBlock } | undefined

  constructor(context: SyncContext) {
    this.context = context
    this.announced = context.tree.tip()
  }

  /** Announces new blocks, unless the node is far behind and peers already know them. */
  readonly tell: Effect.Effect<void> = Effect.suspend(() => {
    const { initial, loading, peers, tree } = this.context
    const tip = tree.tip()
    if (tip === this.announced) return Effect.void
    const fresh = freshBlocks(tree, this.announced, tip)
    this.announced = tip
    // A rollback, as by `invalidateblock`, leads to an old tip.
    if (initial || loading || fresh.length === 0) return Effect.void
    return Effect.forEach([...peers.values()], (state) => this.tellPeer(state, fresh), { discard: true })
  })

  private tellPeer(state: SyncPeer, fresh: ReadonlyArray<HeaderId>): Effect.Effect<void> {
    const { best, peer, sent } = state
    const plan = announcementFor(this.context.tree, fresh, {
      best,
      sent,
      wantsHeaders: peer.features.sendHeaders,
      wantsCompact: peer.features.compactBlocks === "high-bandwidth"
    })
    if (plan.type === "none" || peer.closed) return Effect.void
    return Effect.map(this.messageFor(plan, state), ({ message, told }) => {
      if (told !== NO_HEADER) state.sent = told
      peer.post(message)
    })
  }

  private byHash(id: HeaderId): { readonly message: Message; readonly told: HeaderId } {
    const hash = this.context.tree.hash(id).slice()
    return { message: { type: "inv", items: [{ type: ItemType.block, hash }] }, told: NO_HEADER }
  }

  /** Builds the message. An unreadable block is announced by its hash. */
  private messageFor(
    plan: Exclude<Announcement, { readonly type: "none" }>,
    { peer }: SyncPeer
  ): Effect.Effect<{ readonly message: Message; readonly told: HeaderId }> {
    const { chain } = this.context
    if (plan.type === "inv") return Effect.succeed(this.byHash(plan.id))
    if (plan.type === "compact") {
      return this.compactOf(plan.id).pipe(
        Effect.map((message) => ({ message, told: plan.id })),
        Effect.orElseSucceed(() => this.byHash(plan.id))
      )
    }
    const tip = plan.ids.at(-1) ?? NO_HEADER
    return chain.fullHeaders(plan.ids).pipe(
      Effect.map((headers): { readonly message: Message; readonly told: HeaderId } =>
        headers.length < plan.ids.length ||
          isTooLongHeaders({ size: headersSize(headers), peerVersion: peer.hello.version })
          ? this.byHash(tip)
          : { message: { type: "headers", headers }, told: tip }
      ),
      Effect.orElseSucceed(() => this.byHash(tip))
    )
  }

  private compactOf(id: HeaderId) {
    const { chain, random, tree } = this.context
    return Effect.suspend(() => {
      if (this.compact?.id === id) return Effect.succeed(this.compact.message)
      return Effect.map(chain.block(tree.hash(id).slice()), (block) => {
        const message = makeCompactBlock(block, random(64))
        this.compact = { id, message }
        return message
      })
    })
  }
}

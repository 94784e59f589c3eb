import * as Effect from "effect/Effect"
import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { makeCompactBlock } from "../wire/compactBlock.ts"
import type { Message } from "../wire/message.ts"
import type { CmpctBlock } from "../wire/messages/compact.ts"
import { headersSize, isTooLongHeaders } from "../wire/messages/headers.ts"
import { ItemType } from "../wire/messages/inv.ts"
import type { SyncContext, SyncPeer } from "./SyncContext.ts"

/** Headers per announcement (reference/protocol.md 6.7). */
export const MOST_ANNOUNCED = 8

type AnnouncementTree = Pick<HeaderTree, "ancestor" | "height" | "parent" | "forkPoint" | "isActive">

export interface BlockListener {
  /** The last headers announced by and to the peer; `NO_HEADER` for none. */
  readonly best: HeaderId
  readonly sent: HeaderId
  readonly wantsHeaders: boolean
  readonly wantsCompact: boolean
}

export type Announcement =
  | { readonly type: "none" }
  | { readonly type: "inv"; readonly id: HeaderId }
  | { readonly type: "headers"; readonly ids: ReadonlyArray<HeaderId> }
  | { readonly type: "compact"; readonly id: HeaderId }

const NONE: Announcement = { type: "none" }

export const freshBlocks = (tree: AnnouncementTree, announced: HeaderId, tip: HeaderId): ReadonlyArray<HeaderId> => {
  const fork = tree.height(tree.forkPoint(announced, tip))
  const first = Math.max(fork + 1, tree.height(tip) - MOST_ANNOUNCED + 1)
  const ids: Array<HeaderId> = []
  for (let height = first; height <= tree.height(tip); height++) ids.push(tree.ancestor(tip, height))
  return ids
}

/** Headers that connect to the peer's chain, or only the tip's hash. Source: upstream `SendMessages`. */
export const announcementFor = (
  tree: AnnouncementTree,
  fresh: ReadonlyArray<HeaderId>,
  { best, sent, wantsCompact, wantsHeaders }: BlockListener
): Announcement => {
  const reaches = (end: HeaderId, id: HeaderId): boolean =>
    end !== NO_HEADER && tree.height(end) >= tree.height(id) && tree.ancestor(end, tree.height(id)) === id
  const knows = (id: HeaderId): boolean => reaches(best, id) || reaches(sent, id)
  const tip = fresh.at(-1)
  if (tip === undefined || knows(tip)) return NONE
  const first = fresh.findIndex((id) => !knows(id))
  const ids = fresh.slice(first)
  const parent = tree.parent(ids[0] ?? tip)
  const connects = parent !== NO_HEADER && knows(parent)
  if (connects && wantsCompact && ids.length === 1) return { type: "compact", id: tip }
  return connects && wantsHeaders ? { type: "headers", ids } : { type: "inv", id: tip }
}

export class Announcer {
  private readonly context: SyncContext
  private announced: HeaderId
  private compact: { readonly id: HeaderId; readonly message: CmpctBlock } | undefined

  constructor(context: SyncContext) {
    this.context = context
    this.announced = context.tree.tip()
  }

  /** Unless the node is far behind and peers already know the blocks. */
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

  /** An unreadable block is announced by its hash. */
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

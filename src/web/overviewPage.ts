import * as Effect from "effect/Effect"
import { ExpiringNames } from "../alerts/ExpiringNames.ts"
import { unixTime } from "../base/clock.ts"
import { grouped, quantityOf, sizeText } from "../base/quantities.ts"
import { Chain } from "../chain/Chain.ts"
import type { HeaderInfo } from "../chain/index/headerInfo.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { SyncReporter } from "../light/SyncReporter.ts"
import { Mempool } from "../mempool/Mempool.ts"
import type { PoolEntry } from "../mempool/PoolEntry.ts"
import { newestOperations } from "../names/events/blockOperations.ts"
import { noticesOf } from "../names/events/NameEvent.ts"
import { NameDb } from "../names/NameDb.ts"
import type { PeerInfo } from "../network/peerInfo.ts"
import { PeerManager } from "../network/PeerManager.ts"
import { nameKey } from "../protocol/keys.ts"
import { operationWord } from "../protocol/operationWord.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { makeDeeds, type WaitingSetting } from "./deeds.ts"
import { blocksTable, makeBlockReader } from "./explorer/blocksData.ts"
import { ago } from "./format.ts"
import { type Html, html } from "./html.ts"
import type { PageBody } from "./layout.ts"
import { nameLink, poolLink } from "./links.ts"
import { fact } from "./parts.ts"
import { blockView } from "./places.ts"
import { SyncSpeed } from "./SyncSpeed.ts"
import { statusWords } from "./syncWords.ts"
import { listedName, visible } from "./visible.ts"

/** The section ids tell the script what to replace. */

const MOST_COUNTED = 1_000

const BLOCKS = 10
const CHANGES = 10
const PENDING = 5
const PEERS = 30

/** Blocks searched for operations: six hours of a public network. */
const SEARCHED_BLOCKS = 36

/** The newest pending operations that reveal a name, and the total. */
const pendingIn = (
  pool: typeof Mempool.Service
): { readonly newest: ReadonlyArray<PoolEntry>; readonly total: number } => {
  const newest: Array<PoolEntry> = []
  let total = 0
  for (const entry of pool.entries()) {
    const op = entry.name?.script.operation.op
    if (op === undefined || op === "name_new") continue
    total++
    newest.push(entry)
    if (newest.length > PENDING) newest.shift()
  }
  return { newest: newest.reverse(), total }
}

/** Outbound first, then oldest. */
const byStanding = (a: PeerInfo, b: PeerInfo): number =>
  Number(a.peer.inbound) - Number(b.peer.inbound) || a.peer.connectedAt - b.peer.connectedAt || a.peer.id - b.peer.id

/** Remembers heights between requests. */
const makeOverview = Effect.gen(function*() {
  const chain = yield* Chain
  const names = yield* NameDb
  const manager = yield* PeerManager
  const pool = yield* Mempool
  const status = yield* SyncStatus
  const reporter = yield* SyncReporter
  const expiring = yield* ExpiringNames
  const { params } = chain

  // Blocks of the second notice before an expiry: four weeks, or a part of the short life on regtest.
  const [, within = 0] = noticesOf(params)
  /** Names of loaded wallets and watched names; `undefined` for none. */
  const expiringSoon = expiring.list({
    blocks: within,
    whose: {
      of: "subjects",
      mine: true,
      watched: true,
      // The owner of a name with a pending renewal has nothing to do.
      wants: ({ name }) => pool.pending(nameKey(name)).length === 0
    },
    limit: MOST_COUNTED
  }).pipe(
    Effect.map(({ names, next }) =>
      names.length === 0 ? undefined : { count: names.length, more: next !== undefined, within }
    ),
    Effect.catchTag("WrongQuery", () => Effect.succeed(undefined))
  )

  const deeds = yield* makeDeeds
  const blocksFrom = yield* makeBlockReader
  const speed = new SyncSpeed({ at: performance.now(), height: (yield* chain.tip).height })

  const changes = Effect.gen(function*() {
    const found = yield* names.readLog((log) => newestOperations(log, { blocks: SEARCHED_BLOCKS, limit: CHANGES }))
    return yield* Effect.forEach(found, ({ before, record }) =>
      Effect.map(chain.headerAt(record.height), (info) => ({
        name: record.name,
        word: operationWord(params.network, record, before),
        height: record.height,
        /** `undefined` if the block was disconnected meanwhile. */
        time: info?.header.time
      })))
  })

  return Effect.gen(function*() {
    const now = yield* unixTime
    const tip = yield* chain.tip
    const best = yield* chain.headerTip
    const { behind, importing } = yield* chain.progress
    const { inbound, outbound } = yield* manager.count
    const all = yield* manager.peers
    const syncing = yield* status.syncing
    const report = yield* reporter.report
    const words = statusWords({
      now,
      height: tip.height,
      headers: best.height,
      tipTime: tip.header.time,
      headerTime: best.header.time,
      syncing,
      loading: yield* status.loading,
      importing,
      peers: inbound + outbound,
      active: yield* manager.active,
      offline: yield* status.offline,
      report,
      speed: speed.note({ at: performance.now(), height: tip.height }),
      spacing: params.targetSpacing,
      onDemand: params.noRetargeting
    })
    const moving = behind || importing !== undefined
    const waiting = pendingIn(pool)
    return {
      now,
      words,
      report,
      tip,
      headers: best.height,
      // Not while blocks connect too fast to count names after each.
      names: moving ? undefined : yield* names.stats({ params, tipHeight: tip.height }),
      mempool: pool.info(),
      blocks: yield* blocksFrom(tip.height, BLOCKS),
      changes: yield* changes,
      pending: { newest: yield* deeds.settings(waiting.newest), total: waiting.total },
      expiring: moving || report.window !== undefined ? undefined : yield* expiringSoon,
      peers: [...all].sort(byStanding).slice(0, PEERS),
      inbound,
      outbound,
      traffic: yield* manager.totals
    }
  })
})

type Overview = Effect.Effect.Success<Effect.Effect.Success<typeof makeOverview>>

const status = ({ words: { detail, progress, title, tone } }: Overview): Html =>
  html`<section id="status" class="status ${tone}" aria-labelledby="status-title">
<h1 id="status-title"><span class="dot" aria-hidden="true"></span>${title}</h1>
<p>${detail}</p>
${
    progress !== undefined &&
    html`<progress max="${progress.max}" value="${progress.value}" aria-label="Progress">${
      grouped(100 * progress.value / progress.max)
    } %</progress>`
  }
</section>`

/** In blocks. */
const FOUR_WEEKS = 4_032

/** Counts names, but hides which: the page may have more readers than the wallet has owners. */
const expiringLine = ({ expiring }: Overview): Html => {
  // Present even without names: the script replaces sections, and adds none.
  if (expiring === undefined) return html`<section id="expiring" hidden></section>`
  const names = `${expiring.more ? "More than " : ""}${quantityOf(expiring.count, "name")}`
  const span = expiring.within === FOUR_WEEKS ? "four weeks" : quantityOf(expiring.within, "block")
  const verb = expiring.count === 1 && !expiring.more ? "expires" : "expire"
  return html`<section id="expiring" class="status busy" aria-label="Names about to expire">
<p><b>${names}</b> of the wallets or the watch list ${verb} within ${span}, without a pending renewal. <code>svcd-cli expiring</code> lists them.</p>
</section>`
}

const namesFact = ({ names, report: { proof, window } }: Overview): Html => {
  if (window !== undefined) return fact("Names", grouped(window.names), `in the last blocks, proof: ${proof}`)
  return names === undefined
    ? fact("Names", "–", "counted once synced")
    : fact("Active names", grouped(names.active), `${grouped(names.names - names.active)} expired`)
}

const facts = (overview: Overview): Html => {
  const { headers, inbound, mempool, now, outbound, tip, traffic } = overview
  return html`<section id="facts" aria-label="Key figures"><dl class="facts">
${
    fact(
      "Height",
      grouped(tip.height),
      headers > tip.height ? `of ${quantityOf(headers, "header")}` : html`last block ${ago(tip.header.time, { now })}`
    )
  }
${fact("Peers", grouped(inbound + outbound), `${grouped(outbound)} out, ${grouped(inbound)} in`)}
${namesFact(overview)}
${
    fact(
      "Mempool",
      html`<a href="${poolLink()}">${grouped(mempool.size)}</a>`,
      `${mempool.size === 1 ? "transaction" : "transactions"}, ${sizeText(mempool.bytes)}`
    )
  }
${fact("Traffic", sizeText(traffic.received), `received, ${sizeText(traffic.sent)} sent`)}
</dl></section>`
}

const SIZE = { title: "Size", text: ({ size }: HeaderInfo) => size === 0 ? "–" : sizeText(size) }

const blocks = ({ blocks, now }: Overview): Html =>
  html`<section id="blocks" class="card" aria-labelledby="blocks-title">
<h2 id="blocks-title">Recent blocks</h2>
${blocksTable(blocks, { column: SIZE, when: (time) => ago(time, { now }) })}
</section>`

const change = (now: number, { height, name, time, word }: Overview["changes"][number]): Html =>
  html`<li><a href="${nameLink(name)}">${listedName(name)}</a><span class="what">${word}${
    time !== undefined && html` ${ago(time, { now })}`
  }, ${blockView(height)}</span></li>`

const pendingChange = (now: number, { entry: { time }, operation: { name }, word }: WaitingSetting): Html =>
  html`<li><a href="${nameLink(name)}">${
    listedName(name)
  }</a><span class="what"><span class="badge busy">pending</span> ${word}, seen ${ago(time, { now })}</span></li>`

const changes = ({ changes, now, pending }: Overview): Html => {
  const hidden = pending.total - pending.newest.length
  return html`<section id="operations" class="card" aria-labelledby="operations-title">
<h2 id="operations-title">Name operations</h2>
${
    pending.total + changes.length === 0
      ? html`<p class="empty">No names were registered or updated in recent blocks.</p>`
      : html`<ul class="operations">${pending.newest.map((each) => pendingChange(now, each))}${
        hidden > 0 && html`<li><a href="${poolLink({ names: true })}">${grouped(hidden)} more pending</a></li>`
      }${changes.map((each) => change(now, each))}</ul>`
  }
</section>`
}

const milliseconds = (latency: number | undefined): string => latency === undefined ? "–" : `${grouped(latency)} ms`

const peerRow = (now: number) => ({ peer, sync }: PeerInfo): Html =>
  html`<tr>
<th scope="row" class="address">${visible(peer.name)}</th>
<td data-label="Software" class="broad address">${
    peer.hello.userAgent === "" ? "–" : visible(peer.hello.userAgent)
  }</td>
<td data-label="Direction">${peer.inbound ? "in" : "out"}</td>
<td data-label="Protocol" class="number">${String(peer.hello.version)}</td>
<td data-label="Height" class="number">${
    grouped(Math.max(0, sync.syncedHeaders, sync.syncedBlocks, peer.hello.startHeight))
  }</td>
<td data-label="Ping" class="number">${milliseconds(peer.latency.last)}</td>
<td data-label="Since">${ago(peer.connectedAt, { now })}</td>
<td data-label="Received" class="number">${sizeText(peer.traffic.bytesReceived)}</td>
<td data-label="Sent" class="number">${sizeText(peer.traffic.bytesSent)}</td>
</tr>`

const peers = ({ inbound, now, outbound, peers }: Overview): Html => {
  const hidden = inbound + outbound - peers.length
  return html`<section id="peers" class="card" aria-labelledby="peers-title">
<h2 id="peers-title">Peers</h2>
${
    peers.length === 0
      ? html`<p class="empty">No peers are connected. The node learns nothing new until one connects.</p>`
      : html`<table class="stack"><caption class="out">Connected peers</caption>
<thead><tr><th scope="col">Address</th><th scope="col">Software</th><th scope="col">Direction</th><th scope="col" class="number">Protocol</th><th scope="col" class="number">Height</th><th scope="col" class="number">Ping</th><th scope="col">Connected</th><th scope="col" class="number">Received</th><th scope="col" class="number">Sent</th></tr></thead>
<tbody>${peers.map(peerRow(now))}</tbody>
</table>${hidden > 0 && html`<p class="muted">and ${grouped(hidden)} more</p>`}`
  }
</section>`
}

const overviewView = (overview: Overview): Html =>
  html`${status(overview)}${expiringLine(overview)}${facts(overview)}<div class="columns">${blocks(overview)}${
    changes(overview)
  }</div>${peers(overview)}`

/** With and without wallets. One overview serves all requests of some milliseconds. */
export const makeOverviewPage = (overviewMs: number) =>
  Effect.gen(function*() {
    const gather = yield* makeOverview
    const alone = yield* Effect.makeSemaphore(1)
    let kept: { readonly until: number; readonly whole: PageBody; readonly others: PageBody } | undefined

    const shown = (overview: Overview): PageBody => ({
      status: 200,
      title: overview.words.title,
      now: overview.now,
      live: true,
      // While many blocks come, each second would have its event.
      events: overview.words.tone === "good" ? "./events" : undefined,
      main: overviewView(overview)
    })

    // Requests that arrive meanwhile wait for it.
    const overview = alone.withPermits(1)(Effect.suspend(() => {
      if (kept !== undefined && performance.now() < kept.until) return Effect.succeed(kept)
      return Effect.map(gather, (found) => {
        const whole = shown(found)
        const others = found.expiring === undefined ? whole : shown({ ...found, expiring: undefined })
        return kept = { until: performance.now() + overviewMs, whole, others }
      })
    }))

    return ({ seesWallets }: { readonly seesWallets: boolean }): Effect.Effect<PageBody, StorageFailure> =>
      Effect.map(overview, ({ others, whole }) => seesWallets ? whole : others)
  })

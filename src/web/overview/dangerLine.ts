import * as Effect from "effect/Effect"
import { ExpiringNames } from "../../alerts/ExpiringNames.ts"
import { quantityOf } from "../../base/quantities.ts"
import { Chain } from "../../chain/Chain.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { noticesOf } from "../../names/events/NameEvent.ts"
import { nameKey } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { isAlarm } from "../../wallet/names/outlooks.ts"
import { type Html, html } from "../html.ts"

/** Names to look after. The page counts them, but hides which: it may have more readers than the wallet has owners. */

const MOST_COUNTED = 1_000

/** In blocks. */
const FOUR_WEEKS = 4_032

export interface NamesToLookAfter {
  /** Names of the wallets in danger, as `name_alerts` judges them. */
  readonly danger: number
  /** Watched names of other owners that expire soon. */
  readonly watched: number
  /** Whether more watched names expire. */
  readonly more: boolean
  /** In blocks, for the watched names. */
  readonly within: number
}

/** `undefined` if there are none. */
export const makeNamesToLookAfter: Effect.Effect<
  Effect.Effect<NamesToLookAfter | undefined, StorageFailure>,
  never,
  Chain | ExpiringNames | Mempool
> = Effect.gen(function*() {
  const { params } = yield* Chain
  const expiring = yield* ExpiringNames
  const pool = yield* Mempool
  // Blocks of the second notice before an expiry: four weeks, or a part of the short life on regtest.
  const [, within = 0] = noticesOf(params)
  const watchedSoon = expiring.list({
    blocks: within,
    whose: {
      of: "subjects",
      mine: false,
      watched: true,
      // The owner of a name with a pending renewal has nothing to do, and the wallet judges its own names.
      wants: ({ address, name }) => pool.pending(nameKey(name)).length === 0 && !expiring.isMine(address)
    },
    limit: MOST_COUNTED
  }).pipe(
    Effect.map(({ names, next }) => ({ watched: names.length, more: next !== undefined })),
    Effect.catchTag("WrongQuery", () => Effect.succeed({ watched: 0, more: false }))
  )
  return Effect.gen(function*() {
    const danger = (yield* expiring.outlooks).filter(isAlarm).length
    const soon = yield* watchedSoon
    return danger + soon.watched === 0 ? undefined : { danger, within, ...soon }
  })
})

const dangerText = ({ danger }: NamesToLookAfter): Html =>
  html`<p><b>${quantityOf(danger, "name")}</b> of the wallets ${
    danger === 1 ? "is" : "are"
  } in danger. <code>svcd-cli names</code> says why.</p>`

const watchedText = ({ more, watched, within }: NamesToLookAfter): Html => {
  const names = `${more ? "More than " : ""}${quantityOf(watched, "name")}`
  const span = within === FOUR_WEEKS ? "four weeks" : quantityOf(within, "block")
  return html`<p><b>${names}</b> of the watch list ${
    watched === 1 && !more ? "expires" : "expire"
  } within ${span}, without a pending renewal. <code>svcd-cli expiring</code> lists them.</p>`
}

/** Present even without names: the script replaces sections, and adds none. */
export const dangerLine = (names: NamesToLookAfter | undefined): Html =>
  names === undefined
    ? html`<section id="expiring" hidden></section>`
    : html`<section id="expiring" class="status ${
      names.danger > 0 ? "attention" : "busy"
    }" aria-label="Names to look after">
${names.danger > 0 && dangerText(names)}${names.watched > 0 && watchedText(names)}
</section>`

import * as Effect from "effect/Effect"
import { VALIDATEADDRESS } from "../rpc/contract/control/util.ts"
import { GETADDRESSINFO } from "../rpc/contract/wallet/address.ts"
import { type Html, html } from "../web/html.ts"
import { visible } from "../web/visible.ts"
import { type CallFailed, type Calls, unless } from "./calls.ts"
import { field } from "./frame.ts"

/** The address that gets a name, by transfer or registration. */

/** Why a text is not an address that can own a name. */
export const addressFault = (
  { call }: Pick<Calls, "call">,
  address: string
): Effect.Effect<string | undefined, CallFailed> =>
  Effect.map(
    call(VALIDATEADDRESS, { address }),
    (checked) =>
      "error" in checked ? `This is not an address of this network: ${checked.error.replace(/\.$/, "")}.` : undefined
  )

/** False where the user may not ask. */
export const isOwnAddress = ({ call }: Pick<Calls, "call">, address: string): Effect.Effect<boolean, CallFailed> =>
  Effect.map(
    unless(call(GETADDRESSINFO, { address }), ["forbidden", -5]),
    (found) => found?.ismine === true
  )

export interface NewOwner {
  /** Empty for the wallet itself. */
  readonly owner: string
  readonly renew: boolean
}

export const ownerFaults = (
  calls: Pick<Calls, "call">,
  { owner, renew }: NewOwner
): Effect.Effect<ReadonlyArray<string>, CallFailed> =>
  Effect.gen(function*() {
    if (owner === "") return []
    const fault = yield* addressFault(calls, owner)
    if (fault !== undefined) return [fault]
    return renew
      ? ["A wallet renews only its own names: untick \"Let the wallet renew the name\", or leave this empty."]
      : []
  })

const FIELD = "owner"

/** Open only if the form has an owner. */
export const ownerField = (
  { owner, wrong }: { readonly owner: string; readonly wrong: ReadonlyArray<string> }
): Html => {
  const inner = html`<summary>For another owner</summary>${
    field({
      name: FIELD,
      label: "Address of the owner",
      hint:
        "Leave this empty if this wallet will own the name. Otherwise, the owner's wallet shows an address, for example under Payments, " +
        "Receive. The owner renews the name, so untick the renewal below",
      value: owner,
      wrong
    })
  }`
  return owner !== "" || wrong.length > 0 ? html`<details open>${inner}</details>` : html`<details>${inner}</details>`
}

/** `undefined` for the wallet itself. */
export const ownerRow = (
  calls: Pick<Calls, "call">,
  owner: string
): Effect.Effect<readonly [label: string, content: Html] | undefined, CallFailed> =>
  owner === "" ? Effect.succeed(undefined) : Effect.map(isOwnAddress(calls, owner), (isOwn) => [
    "Owner",
    html`<code class="address">${visible(owner)}</code><br>${
      isOwn
        ? "This address belongs to this wallet, so the name will be yours."
        : "Only this owner can change, renew or transfer the name. A wrong address cannot be corrected."
    }`
  ])

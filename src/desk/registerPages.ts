import * as Effect from "effect/Effect"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { type Bytes, toHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import { NAME_SHOW } from "../rpc/contract/names/name.ts"
import { NAME_PENDING } from "../rpc/contract/names/pending.ts"
import { NAME_REGISTRATIONS } from "../rpc/contract/wallet/registration.ts"
import { type NameKind, type ReadName, readName } from "../values/readName.ts"
import { html, type Part } from "../web/html.ts"
import { titleName, visible } from "../web/visible.ts"
import { AS_HEX } from "./answers.ts"
import { type CallFailed, unless } from "./calls.ts"
import { deskLink, ownNameLink } from "./deskLinks.ts"
import { alertView, field, option } from "./frame.ts"
import { changeHeading } from "./nameViews.ts"
import { type FormKind, kindFor, madeValue, nameFaults } from "./valueFields.ts"
import { NO_OWNER, type ValueForm, valueForm } from "./valueForm.ts"
import { deskAnswer, type DeskHandler, type DeskVisit, nameIn, NotMeant, walletState } from "./visit.ts"

const chooseName = (
  visit: DeskVisit,
  { as = null, text = "", wrong = [] }: {
    readonly as?: string | null
    readonly text?: string
    readonly wrong?: ReadonlyArray<Part>
  } = {}
) =>
  deskAnswer(visit, {
    title: "Register a name",
    at: "register",
    status: wrong.length > 0 ? 400 : 200,
    main: html`<h1>Register a name</h1><section class="card"><form class="stacked" action="${
      deskLink("register")
    }" method="get" data-draft="./desk/meant">${
      field({
        name: "name",
        label: "Name",
        hint: "A domain such as example.bit, an identity such as id/alice, or any other name",
        value: text,
        wrong,
        required: true
      })
    }<div class="draft" id="draft" role="status"></div><fieldset><legend>What it is</legend>${
      option({
        type: "radio",
        name: "as",
        value: "domain",
        label: "A domain",
        hint: "example, for example.bit",
        checked: as !== "identity" && as !== "other"
      })
    }${
      option({
        type: "radio",
        name: "as",
        value: "identity",
        label: "An identity",
        hint: "alice, for id/alice",
        checked: as === "identity"
      })
    }${
      option({
        type: "radio",
        name: "as",
        value: "other",
        label: "Exactly what is written above",
        checked: as === "other"
      })
    }</fieldset><div class="buttons"><button class="primary" type="submit">Go on</button><span class="hint">Others do not see which name you ask for.</span></div></form></section>`
  })

/** What the choice of the form makes of a text without a namespace. */
const kindOf = (as: string | null): NameKind => as === "identity" ? "identity" : as === "other" ? "exact" : "domain"

/** The name that is meant, or why there is none. */
const nameGiven = (text: string, as: string | null): ReadName | string => {
  const reading = readName(text, kindOf(as))
  if (reading._tag === "Unread") return reading.why
  const hasNamespace = text.includes("/")
  if (!hasNamespace && as === "identity" && kindFor(reading.name) !== "identity") {
    return "This cannot be the name of an identity: it has a character that is not an ASCII letter, digit or punctuation mark."
  }
  if (!hasNamespace && as !== "identity" && as !== "other" && kindFor(reading.name) !== "domain") {
    return "This cannot be the name of a domain: it has a character that domains cannot have, perhaps an invisible one."
  }
  return reading
}

const barriers = ({ calls }: DeskVisit, name: Bytes): Effect.Effect<ReadonlyArray<Part>, CallFailed> =>
  Effect.gen(function*() {
    if (name.length > MAX_NAME_LENGTH) return [`The name has more than ${MAX_NAME_LENGTH} bytes.`]
    const hex = toHex(name)
    const found = yield* unless(calls.call(NAME_SHOW, { name: hex, options: { ...AS_HEX, allowExpired: false } }), [-4])
    if (found?.ismine === true) return [html`This name is yours: <a href="${ownNameLink("edit", name)}">change it</a>.`]
    if (found !== undefined) return ["This name is already taken. Choose another one."]
    const pending = yield* calls.call(NAME_PENDING, { name: hex, options: AS_HEX })
    if (pending.some(({ ismine }) => !ismine)) {
      return ["Another registration of this name waits for a block. Choose another name."]
    }
    const registrations = yield* calls.call(NAME_REGISTRATIONS, { options: AS_HEX })
    const running = registrations.some((each) => each.name === hex && each.step !== "done" && each.step !== "failed")
    return running ? ["The wallet is already registering this name. See its names."] : []
  })

/** What a text means, while it is typed. Asks only this node. */
export const meant: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const text = visit.query.get("name") ?? ""
    const reading = text.trim() === "" ? undefined : nameGiven(text, visit.query.get("as"))
    const barred = reading === undefined || typeof reading === "string" ? [] : yield* barriers(visit, reading.name)
    const said: ReadonlyArray<Part> = reading === undefined
      ? []
      : typeof reading === "string"
      ? [visible(reading)]
      : [
        html`This is <b>${visible(reading.what)}</b>.${barred.length === 0 && " It is free."}`,
        ...reading.surprises.map(({ sentence }) => visible(sentence)),
        ...barred
      ]
    return deskAnswer(visit, {
      title: "What it means",
      at: "register",
      main: html`<div class="draft" id="draft" role="status">${said.map((each) => html`<p>${each}</p>`)}</div>`
    })
  })

const emptyForm = (name: Bytes, kind: FormKind): ValueForm => {
  const made = madeValue({ kind, base: "", texts: new Map() })
  return {
    ...NO_OWNER,
    name,
    isNew: true,
    renew: true,
    kind,
    base: "",
    from: "",
    texts: new Map(),
    kept: [],
    made,
    sent: false
  }
}

export const register: DeskHandler = (visit) =>
  Effect.gen(function*() {
    const { query } = visit
    const text = query.get("name")
    const hex = query.get("hex")
    if (text === null && hex === null) return chooseName(visit)
    const { info } = yield* walletState(visit)
    if (!info.private_keys_enabled) {
      return yield* new NotMeant({
        text: "This wallet has no private keys, and a registration takes two signatures. Make both transactions in a " +
          "terminal, with svcd-cli name_new and svcd-cli name_firstupdate, and sign each on the machine that has the keys."
      })
    }
    const as = query.get("as")
    const reading = hex === null ? nameGiven(text ?? "", as) : undefined
    if (typeof reading === "string") return chooseName(visit, { text: text ?? "", as, wrong: [visible(reading)] })
    const name = reading?.name ?? (yield* nameIn(query))
    const wrong = yield* barriers(visit, name)
    if (wrong.length > 0) {
      return chooseName(visit, { text: text ?? encodeText(name, "utf8") ?? "", as, wrong })
    }
    const below = reading?.host
    const surprises = reading?.surprises.filter(({ code }) => code !== "below")
    const faults = surprises?.map(({ sentence }) => sentence) ?? nameFaults(name)
    const isRead = surprises?.every(({ code }) => code !== "form" && code !== "namespace") ?? faults.length === 0
    const suits = kindFor(name)
    return deskAnswer(visit, {
      title: `Register ${titleName(name)}`,
      at: "register",
      main: html`${changeHeading("Register", name)}${
        below !== undefined && alertView(
          "busy",
          html`${visible(below.host)} is below ${
            visible(below.domain)
          }, which is the name to register. Enter the rest as a line of its value, under Sub-domains.`
        )
      }${
        faults.length > 0 && alertView(
          "attention",
          ...faults.map((each) => visible(each)),
          !isRead && "It can be registered, but programs may not read it."
        )
      }${valueForm(visit, emptyForm(name, as === "json" ? "json" : suits), suits)}`
    })
  })

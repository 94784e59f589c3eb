import type { ConsensusParams } from "../../consensus/params.ts"
import { cursorText } from "../../names/events/EventCursor.ts"
import {
  type BlockEvent,
  expiresAt,
  type NameEvent,
  type Placed,
  type UndoneName
} from "../../names/events/NameEvent.ts"
import type { NameEntry } from "../../names/NameEntry.ts"
import { type Bytes, displayHash, equal, toHex } from "../../protocol/bytes.ts"
import { type NameEncoding, namespaceOf } from "../../protocol/nameText.ts"
import { encodeJson, encodeString, type JsonValue } from "../json/encodeJson.ts"
import type { ShapeContext } from "./context.ts"
import { nameTextJson, ownerAddress, valueTextJson } from "./name.ts"

/** Events of names as JSON text, put together here in half the time that the encoder takes for an object. */

export interface EventContext extends ShapeContext {
  readonly params: ConsensusParams
  /** `form=bytes`: only the bytes of records, in hex. */
  readonly bytes?: boolean | undefined
}

/** Falls back to hex if the name has no text in the encoding, so that no event is lost. */
export const eventNameJson = (name: Bytes, encoding: NameEncoding) => {
  const said = nameTextJson(name, encoding)
  return said.name === undefined ? { ...said, name_hex: toHex(name) } : said
}

export const eventValueJson = (value: Bytes, encoding: NameEncoding) => {
  const said = valueTextJson(value, encoding)
  return said.value === undefined ? { ...said, value_hex: toHex(value) } : said
}

const membersText = (members: { readonly [name: string]: JsonValue | undefined }): string =>
  encodeJson(members).slice(1, -1)

/** Shared by the records of one name. */
interface NameTexts {
  readonly name: string
  /** Owner of the last record, cached because encoding an address takes two hashes. */
  owner: Bytes | undefined
  address: string
}

const textsOf = ({ nameEncoding }: EventContext, name: Bytes): NameTexts => ({
  name: membersText(eventNameJson(name, nameEncoding)),
  owner: undefined,
  address: ""
})

const recordText = (context: EventContext, record: NameEntry, texts: NameTexts): string => {
  if (texts.owner === undefined || !equal(texts.owner, record.address)) {
    texts.owner = record.address
    texts.address = encodeString(ownerAddress(context.network, record.address))
  }
  const value = membersText(eventValueJson(record.value, context.valueEncoding))
  return `{${texts.name},${value},"txid":"${
    displayHash(record.txid)
  }","vout":${record.vout},"address":${texts.address},` +
    `"height":${record.height},"expires_at":${expiresAt(record, context.params)}}`
}

const undoneText = (context: EventContext, { cursor, name, record }: UndoneName): string => {
  const texts = textsOf(context, name)
  return `{"cursor":"${cursorText(cursor)}",${texts.name},${namespaceText(name)}"record":${
    record === undefined ? "null" : recordText(context, record, texts)
  }}`
}

const namespaceText = (name: Bytes): string => {
  const namespace = namespaceOf(name)
  return namespace === undefined ? "" : `"namespace":${encodeString(namespace)},`
}

/** The events of a block follow one another and share its hash. */
let lastHash: Bytes | undefined
let lastHashText = ""

const hashText = (hash: Bytes): string => {
  if (hash !== lastHash) {
    lastHash = hash
    lastHashText = displayHash(hash)
  }
  return lastHashText
}

const placeText = (type: string, { cursor, hash, height }: Placed): string =>
  `"type":"${type}","cursor":"${cursorText(cursor)}","height":${height},"hash":"${hashText(hash)}"`

/** Only what names.db stores: the cheapest form to write and read. */
const bytesText = ({ address, name, txid, value, vout }: NameEntry): string =>
  `"name":"${toHex(name)}","value":"${toHex(value)}","script":"${toHex(address)}",` +
  `"txid":"${displayHash(txid)}","vout":${vout}`

const eventBytesText = (event: Exclude<NameEvent, BlockEvent>): string => {
  const place = placeText(event.type, event)
  if (event.type !== "undone") return `{${place},${bytesText(event.record)}}`
  const names = event.names.map(({ cursor, name, record }) => {
    const now = record === undefined ? "null" : `{${bytesText(record)},"height":${record.height}}`
    return `{"cursor":"${cursorText(cursor)}","name":"${toHex(name)}","record":${now}}`
  })
  return `{${place},"names":[${names.join(",")}]}`
}

export const nameEventText = (context: EventContext, event: NameEvent): string => {
  const place = placeText(event.type, event)
  if (event.type === "block") return `{${place},"time":${event.time}}`
  if (context.bytes === true) return eventBytesText(event)
  if (event.type === "undone") {
    return `{${place},"names":[${event.names.map((name) => undoneText(context, name)).join(",")}]}`
  }
  const { record } = event
  const texts = textsOf(context, record.name)
  const blocks = event.type === "expiring" ? `"blocks":${event.blocks},` : ""
  const said = `{${place},${namespaceText(record.name)}${texts.name},${blocks}"record":${
    recordText(context, record, texts)
  }`
  if (event.type === "expired" || event.type === "expiring") return `${said}}`
  return `${said},"before":${event.before === undefined ? "null" : recordText(context, event.before, texts)}}`
}

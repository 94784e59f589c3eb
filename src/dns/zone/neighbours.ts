import { childName, firstLabel, parentName, type WireName } from "../wire/name.ts"

/**
 * Names just before and just after a name in the order of RFC 4034 section 6.1, for NSEC records that deny nothing
 * else (RFC 4470). Names that exist have no byte 255 and no capital letter, so between a name and its neighbours there
 * are none. A question may have any bytes and be of any length, which is what most of the rules here are for.
 */

const LAST = "\xff"

/** The byte before, and the byte behind: the order is that of names in lower case, which have no A to Z. */
const lower = (byte: number): string => String.fromCharCode(byte === 0x5b ? 0x40 : byte - 1)
const higher = (byte: number): string => String.fromCharCode(byte === 0x40 ? 0x5b : byte + 1)

/** A name with nothing that exists between it and `name`: the parent, if the label is the first that there can be. */
const nameBefore = (label: string, parent: WireName): WireName => {
  const front = label.slice(0, -1)
  const last = label.charCodeAt(label.length - 1)
  if (last === 0 && front === "") return parent
  const sibling = last === 0 ? front : front + lower(last)
  const name = childName(sibling, parent)
  if (name === undefined) return parent
  // Without room for the byte or the label, nothing fits below the sibling.
  return (last === 0 ? undefined : childName(sibling + LAST, parent)) ?? childName(LAST, name) ?? name
}

/** The first name behind all names at and below `name`; the origin behind the last one. */
const nameBehind = (name: WireName, origin: WireName): WireName => {
  const label = firstLabel(name)
  if (label === undefined || name === origin) return origin
  const parent = parentName(name)
  const longer = childName(`${label}\0`, parent)
  if (longer !== undefined) return longer
  const front = label.replace(/\xff+$/, "")
  if (front === "") return nameBehind(parent, origin)
  const sibling = front.slice(0, -1) + higher(front.charCodeAt(front.length - 1))
  return childName(sibling, parent) ?? nameBehind(parent, origin)
}

/** Owner and next name of an NSEC record. */
export interface NsecSpan {
  readonly owner: WireName
  readonly next: WireName
}

/** The record around a name that does not exist, below the origin. */
export const nsecAround = (name: WireName, origin: WireName): NsecSpan => ({
  owner: nameBefore(firstLabel(name) ?? "", parentName(name)),
  next: nameBehind(name, origin)
})

/**
 * The next name of an NSEC record at a name that exists: behind `\000` below it, where nothing exists. So the record is
 * that of a question for `\000` too. Resolvers keep one record for each owner.
 */
export const nsecNext = (name: WireName, origin: WireName): WireName =>
  nameBehind(childName("\0", name) ?? name, origin)

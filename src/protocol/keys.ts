/**
 * Types for values that must not be mixed up. A brand is only in the type: at run time the value is the plain one. Each
 * brand has one function that gives it, which is called where the value comes into being.
 */

declare const brand: unique symbol

/** A value of type `A` that counts as a `B`. */
export type Brand<A, B extends string> = A & { readonly [brand]: B }

/** The number of a header in the tree of headers. It never changes while the node runs. */
export type HeaderId = Brand<number, "HeaderId">

export const headerId = (place: number): HeaderId => place as HeaderId

/** The number of a connection to a peer, counted from 0. */
export type PeerId = Brand<number, "PeerId">

export const peerId = (count: number): PeerId => count as PeerId

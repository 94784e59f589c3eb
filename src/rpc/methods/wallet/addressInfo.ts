import { type Destination, destinationOf, encodeAddress, scriptOf } from "../../../protocol/address.ts"
import { type Bytes, toHex } from "../../../protocol/bytes.ts"
import type { Network } from "../../../protocol/networks.ts"
import { isCompressedKey } from "../../../protocol/scriptOperations.ts"
import { scriptTemplate } from "../../../protocol/scriptType.ts"
import type { OwnScript } from "../../../wallet/keys/WalletKeys.ts"
import type { Wallet } from "../../../wallet/Wallet.ts"
import {
  type ADDRESS_INFO,
  type DETAIL_MEMBERS,
  type FORM,
  type KEY_ORIGIN_MEMBERS,
  type OF_EMBEDDED
} from "../../contract/wallet/addressInfo.ts"
import type * as Result from "../../method/results.ts"
import { isChangeScript } from "./walletTransactions.ts"

type Detail = Result.MembersOf<typeof DETAIL_MEMBERS> & {
  readonly embedded?: Detail & Result.MembersOf<typeof OF_EMBEDDED>
}

/** Upstream `rpc/util.cpp`, `DescribeAddress`. */
const formOf = (destination: Destination): Result.MembersOf<typeof FORM> => {
  if (destination.kind !== "witness") return { isscript: destination.kind === "scripthash", iswitness: false }
  const { program, version } = destination
  const known = version === 0 || (version === 1 && (program.length === 32 || program.length === 2))
  return {
    isscript: known ? program.length !== 20 : undefined,
    iswitness: true,
    witness_version: version,
    witness_program: toHex(program)
  }
}

/** The inner script of a P2SH or P2WSH address. */
const innerJson = (network: Network, own: OwnScript, inner: Bytes): Partial<Detail> => {
  const template = scriptTemplate(inner)
  const shared = { script: template.type, hex: toHex(inner) }
  const destination = destinationOf(inner)
  if (destination !== undefined) {
    const detail = detailJson(network, own, destination)
    return {
      ...shared,
      pubkey: detail.pubkey,
      embedded: {
        ...detail,
        address: encodeAddress(network, destination),
        scriptPubKey: toHex(inner)
      }
    }
  }
  if (template.type !== "multisig") return shared
  return { ...shared, pubkeys: template.pubkeys.map(toHex), sigsrequired: template.required }
}

/** Upstream `DescribeWalletAddress`. */
const detailJson = (network: Network, own: OwnScript | undefined, destination: Destination): Detail => {
  const form = formOf(destination)
  if (own === undefined) return form
  const key = own.publicKey === undefined ? undefined : toHex(own.publicKey)
  const isHashOfScript = destination.kind === "witness" && destination.version === 0 &&
    destination.program.length === 32
  if (destination.kind === "pubkeyhash") {
    const iscompressed = own.publicKey === undefined ? undefined : isCompressedKey(own.publicKey)
    return { ...form, pubkey: key, iscompressed }
  }
  if (destination.kind === "scripthash") {
    return own.redeemScript === undefined ? form : { ...form, ...innerJson(network, own, own.redeemScript) }
  }
  if (isHashOfScript) {
    return own.witnessScript === undefined ? form : { ...form, ...innerJson(network, own, own.witnessScript) }
  }
  return destination.version === 0 ? { ...form, pubkey: key } : form
}

/** Placeholder for the hash of a seed, which the wallet does not reveal. */
const NO_SEED = "00".repeat(20)

/** Whether the descriptor contains the data for spending. */
export const isSolvable = ({ descriptor }: OwnScript): boolean => !/^(addr|raw)\(/.test(descriptor)

const originJson = (own: OwnScript): Result.MembersOf<typeof KEY_ORIGIN_MEMBERS> => ({
  timestamp: own.timestamp,
  hdkeypath: own.path,
  hdseedid: own.path === undefined ? undefined : NO_SEED,
  hdmasterfingerprint: own.masterFingerprint === undefined ? undefined : toHex(own.masterFingerprint)
})

export const addressInfo = (
  network: Network,
  wallet: Wallet,
  destination: Destination
): Result.ValueOf<typeof ADDRESS_INFO> => {
  const script = scriptOf(destination)
  const address = encodeAddress(network, destination)
  const own = wallet.keys.own(script)
  const solvable = own !== undefined && isSolvable(own)
  const entry = wallet.keys.labels().get(address)
  const { embedded, ...detail } = detailJson(network, own, destination)
  return {
    address,
    scriptPubKey: toHex(script),
    ismine: own !== undefined,
    solvable,
    desc: solvable ? own.descriptor : undefined,
    parent_desc: own?.parentDescriptor,
    iswatchonly: false,
    ...detail,
    embedded,
    ischange: isChangeScript(wallet, script),
    ...(own === undefined ? {} : originJson(own)),
    labels: entry === undefined ? [] : [entry.label]
  }
}

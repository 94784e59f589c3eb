import { addressOf } from "../../protocol/address.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Network } from "../../protocol/networks.ts"
import { withChecksum } from "./descriptors.ts"
import type { DescribedScript } from "./descriptorScripts.ts"
import { pathText } from "./hd.ts"
import { isSpendable, type KeyChain } from "./KeyChain.ts"
import type { DerivedKey } from "./keyExpression.ts"
import type { AddressType, OwnScript } from "./WalletKeys.ts"

/** Texts are computed on demand: most scripts are watched and never shown. */
export class WatchedScript implements OwnScript {
  readonly script: Bytes
  readonly type: AddressType | "other"
  readonly chain: KeyChain
  readonly index: number
  readonly described: DescribedScript
  private readonly network: Network
  private shown: string | undefined

  constructor(
    network: Network,
    { chain, described, index }: {
      readonly chain: KeyChain
      readonly index: number
      readonly described: DescribedScript
    }
  ) {
    this.network = network
    this.script = described.script
    this.type = described.type
    this.chain = chain
    this.index = index
    this.described = described
  }

  private get onlyKey(): DerivedKey | undefined {
    const { keys } = this.described
    return keys.length === 1 ? keys[0] : undefined
  }

  get address(): string | undefined {
    return this.shown ??= addressOf(this.network, this.script)
  }

  get change(): boolean {
    return this.chain.change
  }

  get spendable(): boolean {
    return isSpendable(this.described, this.chain)
  }

  get publicKey(): Bytes | undefined {
    return this.onlyKey?.publicKey
  }

  get path(): string | undefined {
    const { onlyKey } = this
    return onlyKey === undefined ? undefined : `m${pathText(onlyKey.origin.path)}`
  }

  get masterFingerprint(): Bytes | undefined {
    return this.onlyKey?.origin.fingerprint
  }

  get descriptor(): string {
    return withChecksum(this.described.text())
  }

  get parentDescriptor(): string {
    return this.chain.text
  }

  get redeemScript(): Bytes | undefined {
    return this.described.redeemScript
  }

  get witnessScript(): Bytes | undefined {
    return this.described.witnessScript
  }

  get timestamp(): number {
    return this.chain.timestamp
  }
}

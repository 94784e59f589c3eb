import { type Grant, ordered, type Permission, type WhitelistEntry } from "../../config/permissions.ts"
import { contains, parseSubnet, type Subnet } from "../addresses/subnet.ts"
import type { Permissions } from "../Peer.ts"
import type { NetAddress } from "../wire/netAddress.ts"

export interface PermissionOptions {
  readonly whitelist: ReadonlyArray<WhitelistEntry>
  readonly whitelistRelay: boolean
  readonly whitelistForceRelay: boolean
}

const NONE: Grant = { permissions: [], implicit: false }

/** Source: upstream `net.cpp`, `AddWhitelistPermissionFlags`. */
export class PermissionRules {
  private readonly entries: ReadonlyArray<WhitelistEntry & { readonly subnet: Subnet | undefined }>
  private readonly implicit: ReadonlyArray<Permission>

  constructor({ whitelist, whitelistForceRelay, whitelistRelay }: PermissionOptions) {
    this.entries = whitelist.map((entry) => ({ ...entry, subnet: parseSubnet(entry.net) }))
    this.implicit = [
      ...(whitelistForceRelay ? ["forcerelay", "relay"] as const : []),
      ...(whitelistRelay ? ["relay"] as const : []),
      "mempool",
      "noban",
      "download"
    ]
  }

  inbound(address: NetAddress, listener: Grant = NONE): Permissions {
    return this.granted([listener, ...this.matching(address).filter(({ inbound }) => inbound)])
  }

  manual(address: NetAddress): Permissions {
    return this.granted(this.matching(address).filter(({ outbound }) => outbound))
  }

  private matching(address: NetAddress): ReadonlyArray<WhitelistEntry> {
    return this.entries.filter(({ subnet }) => subnet !== undefined && contains(subnet, address))
  }

  private granted(grants: ReadonlyArray<Grant>): Permissions {
    const named = grants.flatMap(({ permissions }) => permissions)
    return new Set(ordered(grants.some(({ implicit }) => implicit) ? [...named, ...this.implicit] : named))
  }
}

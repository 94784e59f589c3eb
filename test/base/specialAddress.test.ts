import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { forbiddenAddress } from "../../src/base/specialAddress.ts"

const FORBIDDEN = [
  { address: "127.0.0.1", kind: "this machine" },
  { address: "127.255.255.255", kind: "this machine" },
  { address: "0.0.0.0", kind: "this machine" },
  { address: "0.255.255.255", kind: "this machine" },
  { address: "10.0.0.0", kind: "a private network" },
  { address: "10.255.255.255", kind: "a private network" },
  { address: "172.16.0.0", kind: "a private network" },
  { address: "172.31.255.255", kind: "a private network" },
  { address: "192.168.1.1", kind: "a private network" },
  { address: "100.64.0.0", kind: "a private network" },
  { address: "100.127.255.255", kind: "a private network" },
  { address: "169.254.169.254", kind: "the local link" },
  { address: "168.63.129.16", kind: "a service of the cloud provider" },
  { address: "::ffff:168.63.129.16", kind: "a service of the cloud provider" },
  { address: "100.100.100.200", kind: "a private network" },
  { address: "192.0.0.192", kind: "an address range for special purposes" },
  { address: "fd00:ec2::254", kind: "a private network" },
  { address: "192.0.0.8", kind: "an address range for special purposes" },
  { address: "192.0.2.1", kind: "an address range for special purposes" },
  { address: "192.88.99.1", kind: "an address range for special purposes" },
  { address: "198.18.0.1", kind: "an address range for special purposes" },
  { address: "198.19.255.255", kind: "an address range for special purposes" },
  { address: "198.51.100.7", kind: "an address range for special purposes" },
  { address: "203.0.113.7", kind: "an address range for special purposes" },
  { address: "224.0.0.1", kind: "a multicast group" },
  { address: "239.255.255.255", kind: "a multicast group" },
  { address: "240.0.0.1", kind: "an address range for special purposes" },
  { address: "255.255.255.255", kind: "an address range for special purposes" },
  { address: "::", kind: "this machine" },
  { address: "::1", kind: "this machine" },
  { address: "::127.0.0.1", kind: "an address range for special purposes" },
  { address: "::ffff:127.0.0.1", kind: "this machine" },
  { address: "::ffff:7f00:1", kind: "this machine" },
  { address: "::ffff:10.1.2.3", kind: "a private network" },
  { address: "::ffff:a9fe:a9fe", kind: "the local link" },
  { address: "64:ff9b::127.0.0.1", kind: "this machine" },
  { address: "64:ff9b::c0a8:101", kind: "a private network" },
  { address: "64:ff9b::", kind: "this machine" },
  { address: "64:ff9b:1::1", kind: "an address range for special purposes" },
  { address: "64:ff9b:1::10.1.2.3", kind: "an address range for special purposes" },
  { address: "::10.1.2.3", kind: "an address range for special purposes" },
  { address: "::ffff:0:10.1.2.3", kind: "an address range for special purposes" },
  { address: "2001:0:4136:e378:8000:63bf:f5fe:fdfc", kind: "an address range for special purposes" },
  { address: "100::1", kind: "an address range for special purposes" },
  { address: "2001::1", kind: "an address range for special purposes" },
  { address: "2001:2::1", kind: "an address range for special purposes" },
  { address: "2001:20::1", kind: "an address range for special purposes" },
  { address: "2001:db8::1", kind: "an address range for special purposes" },
  { address: "2002:7f00:1::", kind: "an address range for special purposes" },
  { address: "3fff::1", kind: "an address range for special purposes" },
  { address: "5f00::1", kind: "an address range for special purposes" },
  { address: "fc00::1", kind: "a private network" },
  { address: "fdff::1", kind: "a private network" },
  { address: "fe80::1", kind: "the local link" },
  { address: "fe80::1%eth0", kind: "the local link" },
  { address: "fec0::1", kind: "a private network" },
  { address: "ff02::1", kind: "a multicast group" }
]

const ALLOWED = [
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.1",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2001:200::1",
  "2606:4700:4700::1111",
  "2a00:1450:4001:81b::200e",
  "::ffff:1.1.1.1",
  "64:ff9b::101:101"
]

describe("forbiddenAddress", () => {
  it.each(FORBIDDEN)(
    "refuses $address: $kind",
    ({ address, kind }) => assert.strictEqual(forbiddenAddress(address), kind)
  )

  it("refuses the addresses of this machine, in every form, and allows their neighbours", () => {
    const own = ["8.8.4.4", "2606:4700::1111%eth0"]
    for (const address of ["8.8.4.4", "::ffff:8.8.4.4", "64:ff9b::8.8.4.4", "64:ff9b::808:404", "2606:4700:0::1111"]) {
      assert.strictEqual(forbiddenAddress(address, own), "this machine", address)
    }
    for (const address of ["8.8.4.5", "64:ff9b::8.8.4.5", "2606:4700::1112"]) {
      assert.isUndefined(forbiddenAddress(address, own), address)
    }
  })

  it.each(ALLOWED)("allows %s", (address) => assert.isUndefined(forbiddenAddress(address)))

  it.prop("judges an address of IPv4 the same inside IPv6, however the URL standard writes it", {
    bytes: FastCheck.uint8Array({ minLength: 4, maxLength: 4 }),
    prefix: FastCheck.constantFrom("::ffff:", "64:ff9b::", "0:0:0:0:0:ffff:")
  }, ({ bytes, prefix }) => {
    const address = bytes.join(".")
    const url = new URL(`http://[${prefix}${address}]/`)
    assert.strictEqual(forbiddenAddress(url.hostname.slice(1, -1)), forbiddenAddress(address))
    assert.strictEqual(forbiddenAddress(url.hostname.slice(1, -1), [address]), "this machine")
  })
})

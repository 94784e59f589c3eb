import type { Settings } from "../../config/settings.ts"
import { type ConsensusParams, paramsOf, withOverrides } from "../../consensus/params.ts"
import { networks } from "../../protocol/networks.ts"

export const paramsFor = (
  { anchor, assumeValid, minimumChainWork, network, test, testActivationHeights, versionBits }: Settings["chain"]
): ConsensusParams => {
  const own = withOverrides(paramsOf(networks[network]), {
    // The last option for a rule wins, as upstream.
    activation: Object.fromEntries(
      [...testActivationHeights, ...versionBits].map(({ height, rule }) => [rule, height])
    ),
    ...(test.includes("bip94") ? { limitsTimewarp: true } : {}),
    ...(minimumChainWork === undefined ? {} : { minimumChainWork })
  })
  const params = anchor === "default" ? own : { ...own, anchors: anchor === "none" ? [] : [anchor] }
  if (assumeValid === "default") return params
  return { ...params, assumeValid: assumeValid === "none" ? undefined : assumeValid }
}

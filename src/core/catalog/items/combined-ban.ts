import type { CombinedBan } from '../generated/items.ts'
import { castPlain, overwritingList, type ItemRow } from '../item-spec.ts'
import { checkNetworks } from '../networks.ts'
import { describeRefusal } from '../problems.ts'

/** Bans of requests that meet all conditions of a rule (specification, "combined_ban"). */
export const combinedBan: ItemRow = {
  ...overwritingList,
  domainsAtTop: true,
  check: (value) =>
    castPlain<CombinedBan>(value).flatMap(({ configs }, i) =>
      Object.keys(configs).length === 0
        ? [
            describeRefusal(
              `/${i}/configs`,
              'expected at least one condition (method, ip, referer, url, ua): a rule ' +
                'without any would ban everybody',
            ),
          ]
        : checkNetworks(`/${i}/configs/ip/list`, configs.ip?.list ?? []),
    ),
}

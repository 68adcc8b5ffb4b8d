/* What is decided about sign-ins: the fallbacks, registration, age of results, outages, and how the pages look. */
import { useQuery } from '@tanstack/react-query'
import { getPersonGroupsById } from '../api/generated/sdk.gen.ts'
import type { SignInPolicy } from '../api/generated/types.gen.ts'
import { Page } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { GateTabs } from './gate-tabs.tsx'
import { policyQuery } from './gate-queries.ts'
import { PolicyForm } from './policy-form.tsx'
import { texts } from './texts.ts'

export function PolicyPage() {
  const query = useQuery(policyQuery)
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      above={[{ label: texts.settings, to: '/settings' }]}
    >
      <GateTabs current="/settings/sign-in/policy" />
      <Loaded query={query} height={480}>
        {(policy) => <LoadedPolicy policy={policy} />}
      </Loaded>
    </Page>
  )
}

/** The form needs the name of the group from its beginning. */
function LoadedPolicy({ policy }: { readonly policy: SignInPolicy }) {
  const groupId = policy.break_glass_group_id
  const group = useQuery({
    queryKey: ['person_groups', groupId ?? ''],
    queryFn: async ({ signal }) =>
      (await getPersonGroupsById({ path: { id: groupId ?? '' }, signal, throwOnError: true })).data,
    enabled: groupId !== null,
  })
  if (groupId !== null && group.isPending) return null
  return <PolicyForm policy={policy} groupName={group.data?.name} />
}

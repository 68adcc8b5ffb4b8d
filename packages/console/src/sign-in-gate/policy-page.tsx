/* What is decided about sign-ins: the fallbacks, registration, age of results, outages, and how the pages look. */
import { useQuery } from '@tanstack/react-query'
import { getPersonGroupsById } from '../api/generated/sdk.gen.ts'
import type { SignInPolicy } from '../api/generated/types.gen.ts'
import { Loaded } from '../kit/states.tsx'
import { GatePage } from './gate-page.tsx'
import { policyQuery } from './gate-queries.ts'
import { PolicyForm } from './policy-form.tsx'

export function PolicyPage() {
  const query = useQuery(policyQuery)
  return (
    <GatePage current="/settings/sign-in/policy">
      <Loaded query={query} height={480}>
        {(policy) => <LoadedPolicy policy={policy} />}
      </Loaded>
    </GatePage>
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

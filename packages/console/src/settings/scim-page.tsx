/* What an identity provider needs to provision people and groups. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { getScimSettings } from '../api/generated/sdk.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { ErrorState } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { texts } from './texts.ts'

export function ScimPage() {
  const { data, error } = useQuery({
    queryKey: ['organisation', 'scim'],
    queryFn: async ({ signal }) => (await getScimSettings({ signal, throwOnError: true })).data,
  })
  return (
    <Page
      title={texts.scim}
      lead={texts.scimLead}
      above={[{ label: texts.title, to: '/settings' }]}
    >
      {error === null ? null : <ErrorState error={error} />}
      {data === undefined ? null : (
        <>
          <Section title={texts.scimAddress}>
            <Facts
              facts={[
                [texts.scimAddress, <Copyable key="url" value={data.base_url} />],
                [texts.scimToken, texts.scimTokenHelp(data.permission)],
                [texts.users, data.active_user_count],
                [texts.usersOff, data.inactive_user_count],
                [texts.groups, data.group_count],
              ]}
            />
          </Section>
          <Section title={texts.scimKeys}>
            {data.keys.length === 0 ? (
              <Text c="dimmed" size="sm">
                {texts.noScimKeys}{' '}
                <Link to="/settings/developers/$tab" params={{ tab: 'api-keys' }}>
                  {texts.createKey}
                </Link>
              </Text>
            ) : (
              <Facts
                facts={data.keys.map((key) => [
                  `… ${key.secret_last_four}`,
                  <span key={key.id}>
                    <Link to="/settings/api-keys/$id" params={{ id: key.id }}>
                      {key.name}
                    </Link>{' '}
                    <Text span size="xs" c="dimmed">
                      <Time at={key.last_used_at} />
                    </Text>
                  </span>,
                ])}
              />
            )}
          </Section>
        </>
      )}
    </Page>
  )
}

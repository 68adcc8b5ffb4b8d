/* What an identity provider needs to provision people and groups. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { getScimSettings } from '../api/generated/sdk.gen.ts'
import type { ScimSettings } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { texts } from './texts.ts'

export function ScimPage() {
  const query = useQuery({
    queryKey: ['organisation', 'scim'],
    queryFn: async ({ signal }) => (await getScimSettings({ signal, throwOnError: true })).data,
  })
  return (
    <Page
      title={texts.scim}
      lead={texts.scimLead}
      above={[{ label: texts.title, to: '/settings' }]}
    >
      <Loaded query={query} height={320}>
        {(settings) => <Settings settings={settings} />}
      </Loaded>
    </Page>
  )
}

function Settings({ settings }: { readonly settings: ScimSettings }) {
  return (
    <>
      <Section title={texts.scimConnection}>
        <Facts
          facts={[
            [texts.scimAddress, <Copyable key="url" value={settings.base_url} />],
            [texts.scimToken, texts.scimTokenHelp(settings.permission)],
            [texts.users, settings.active_user_count],
            [texts.usersOff, settings.inactive_user_count],
            [texts.groups, settings.group_count],
          ]}
        />
      </Section>
      <Section title={texts.scimKeys}>
        {settings.keys.length === 0 ? (
          <Text c="dimmed" size="sm">
            {texts.noScimKeys}{' '}
            <Link to="/settings/developers/$tab" params={{ tab: 'api-keys' }}>
              {texts.createKey}
            </Link>
          </Text>
        ) : (
          <Facts
            facts={settings.keys.map((key) => [
              `… ${key.secret_last_four}`,
              <span key={key.id}>
                <Link to="/settings/api-keys/$id" params={{ id: key.id }}>
                  {key.name}
                </Link>{' '}
                <Text span size="xs" c="dimmed">
                  {texts.scimKeyUsed} <Time at={key.last_used_at} />
                </Text>
              </span>,
            ])}
          />
        )}
      </Section>
    </>
  )
}

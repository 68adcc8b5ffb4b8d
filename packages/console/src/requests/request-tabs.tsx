import { Tabs } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { KINDS, type Kind } from './request-search.ts'
import { texts } from './texts.ts'

/** The kinds of requests, and the sign-ins that wait: each a list of its own. */
export function RequestTabs({ current }: { readonly current: Kind | 'sign_in' }) {
  const navigate = useNavigate()
  return (
    <Tabs
      value={current}
      onChange={(next) =>
        void (next === 'sign_in'
          ? navigate({ to: '/requests/sign-ins', replace: true })
          : navigate({
              to: '/requests',
              search: { kind: (next ?? 'exemption') as Kind },
              replace: true,
            }))
      }
    >
      <Tabs.List>
        {[...KINDS, 'sign_in' as const].map((each) => (
          <Tabs.Tab key={each} value={each}>
            {texts.kinds[each]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    </Tabs>
  )
}

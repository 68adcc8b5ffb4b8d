/* Follows an event from its cause to its receivers, by whatever is known of it. */
import { Button, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { SearchIcon, TelescopeIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { getEventSearch } from '../api/generated/sdk.gen.ts'
import type { EventSearch } from '../api/generated/types.gen.ts'
import { useTypedText } from '../kit/sent-texts.ts'
import { Page, Section } from '../kit/page.tsx'
import { EmptyState, ErrorState } from '../kit/states.tsx'
import classes from './event-search.module.css'
import { texts } from './texts.ts'
import { TrailSection } from './trail-section.tsx'

export function EventSearchPage() {
  const { query = '' } = useSearch({ from: '/frame/signals/find' })
  const { data, error, refetch } = useQuery({
    queryKey: ['deliveries', 'list', 'event-search', query],
    queryFn: async ({ signal }) =>
      (await getEventSearch({ query: { query }, signal, throwOnError: true })).data,
    enabled: query !== '',
    placeholderData: keepPreviousData,
  })
  return (
    <Page title={texts.title} lead={texts.lead}>
      <SearchForm query={query} />
      {query === '' ? (
        <Examples />
      ) : error !== null && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton height={280} />
      ) : (
        <Found found={data} />
      )}
    </Page>
  )
}

function SearchForm({ query }: { readonly query: string }) {
  const navigate = useNavigate()
  const { text, setText, send } = useTypedText(
    query,
    (next) => void navigate({ to: '/signals/find', search: { query: next } }),
  )
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        send(text.trim())
      }}
    >
      <Group gap="xs" wrap="nowrap" maw={760}>
        <TextInput
          flex={1}
          size="md"
          aria-label={texts.search}
          placeholder={texts.placeholder}
          leftSection={<SearchIcon />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          spellCheck={false}
          autoComplete="off"
          autoFocus
        />
        <Button type="submit" size="md" disabled={text.trim() === ''}>
          {texts.find}
        </Button>
      </Group>
    </form>
  )
}

function Examples() {
  return (
    <Section title={texts.startTitle} lead={texts.start}>
      <dl className={classes.examples}>
        {texts.examples.map(([what, example]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              <code>{example}</code>
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

function Found({ found }: { readonly found: EventSearch }) {
  const { found_by: by, trails, has_more: hasMore } = found
  if (by === null || trails.length === 0) {
    return (
      <EmptyState
        icon={TelescopeIcon}
        title={texts.nothingTitle}
        action={<Link to="/signals/deliveries">{'Deliveries'}</Link>}
      >
        {texts.nothing}
      </EmptyState>
    )
  }
  return (
    <Stack>
      <Text size="sm" c="dimmed" role="status">
        {texts.foundBy[by]}: {texts.trails(trails.length)}. {hasMore ? texts.more : ''}
      </Text>
      {trails.map((trail) => (
        <TrailSection key={trail.txn} trail={trail} />
      ))}
    </Stack>
  )
}

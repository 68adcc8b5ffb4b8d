/* All checks: a catalogue that is small enough to be read whole, narrowed by platform, tag and strategy. */
import { Button, Group, Select, TextInput } from '@mantine/core'
import { BeakerIcon, ChecklistIcon, SearchIcon } from '@primer/octicons-react'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { getChecks } from '../api/generated/sdk.gen.ts'
import type { Check } from '../api/generated/types.gen.ts'
import { DataTable, type Column } from '../kit/data-table.tsx'
import { Page } from '../kit/page.tsx'
import { EmptyState } from '../kit/states.tsx'
import { useTypedText } from '../kit/sent-texts.ts'
import { useList, type List } from '../kit/use-list.ts'
import type { CheckSearch } from './check-search.ts'
import classes from './checks.module.css'
import { StrategyBadge } from './strategy-badge.tsx'
import { texts } from './texts.ts'

const COLUMNS: readonly Column<Check>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(190px, 2fr)',
    cell: ({ id, name }) => (
      <Link to="/checks/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'passing',
    header: texts.passing,
    narrow: true,
    width: '110px',
    cell: ({ percent_passing: share }) => <PassingBar share={share} />,
  },
  {
    id: 'strategy',
    header: texts.strategy,
    width: '140px',
    cell: ({ remediation_strategy: strategy, paused }) =>
      paused ? texts.paused : <StrategyBadge strategy={strategy} />,
  },
  {
    id: 'platforms',
    header: texts.platforms,
    width: '160px',
    cell: ({ compatible_platforms: platforms }) =>
      platforms.map((platform) => texts.platformNames[platform]).join(', '),
  },
  {
    id: 'tags',
    header: texts.tags,
    cell: ({ check_tags: tags }) => tags.map(({ name }) => name).join(', '),
  },
  { id: 'kind', header: texts.kind, width: '72px', cell: ({ type }) => texts.kinds[type] },
]

export function PassingBar({ share }: { readonly share: number }) {
  return (
    <span className={classes.passing}>
      <span className={classes.track} aria-hidden>
        <span style={{ width: `${share}%` }} />
      </span>
      {texts.percent(share)}
    </span>
  )
}

export function ChecksPage() {
  const search = useSearch({ from: '/frame/checks' })
  const navigate = useNavigate()
  const all = useList(['checks', 'list'], (page) => getChecks(page))
  const { hasMore, isLoadingMore, error, loadMore } = all
  useEffect(() => {
    if (hasMore && !isLoadingMore && error === null) loadMore()
  }, [hasMore, isLoadingMore, error, loadMore])
  const items = useMemo(() => all.items.filter((check) => fits(check, search)), [all.items, search])
  const list: List<Check> = { ...all, items, hasMore: false }
  const change = (next: CheckSearch) =>
    void navigate({
      to: '/checks',
      // What was changed a moment ago may not stand in the address that is shown here.
      search: (before) => clean({ ...before, ...next }),
      replace: true,
    })
  return (
    <Page
      title={texts.title}
      actions={
        <Button component={Link} to="/checks/drafts" variant="default" leftSection={<BeakerIcon />}>
          {texts.drafts}
        </Button>
      }
      isFilling
    >
      <DataTable
        name={texts.title}
        columns={COLUMNS}
        list={list}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/checks/$id', params: { id } })}
        toolbar={<Filters checks={all.items} search={search} onChange={change} />}
        empty={
          <EmptyState icon={ChecklistIcon} title={texts.none}>
            {texts.noneHelp}
          </EmptyState>
        }
      />
    </Page>
  )
}

interface FiltersProps {
  readonly checks: readonly Check[]
  readonly search: CheckSearch
  readonly onChange: (next: CheckSearch) => void
}

function Filters({ checks, search, onChange }: FiltersProps) {
  const tags = useMemo(
    () => [...new Set(checks.flatMap((check) => check.check_tags.map(({ name }) => name)))].sort(),
    [checks],
  )
  const name = useTypedText(search.name ?? '', (next) => onChange({ name: next }))
  return (
    <Group gap={6} role="search">
      <TextInput
        className={classes.find}
        aria-label={texts.find}
        placeholder={texts.find}
        leftSection={<SearchIcon size={15} />}
        value={name.text}
        onChange={({ currentTarget: { value } }) => {
          name.setText(value)
          name.send(value)
        }}
      />
      <Select
        className={classes.filter}
        aria-label={texts.platforms}
        placeholder={texts.allPlatforms}
        clearable
        data={Object.entries(texts.platformNames).map(([value, label]) => ({ value, label }))}
        value={search.platform ?? null}
        onChange={(platform) => onChange({ platform: platform ?? '' })}
      />
      <Select
        className={classes.filter}
        aria-label={texts.tags}
        placeholder={texts.allTags}
        clearable
        searchable
        data={search.tag === undefined || tags.includes(search.tag) ? tags : [search.tag, ...tags]}
        value={search.tag ?? null}
        onChange={(tag) => onChange({ tag: tag ?? '' })}
      />
      <Select
        className={classes.filter}
        aria-label={texts.strategy}
        placeholder={texts.allStrategies}
        clearable
        data={Object.entries(texts.strategies).map(([value, label]) => ({ value, label }))}
        value={search.strategy ?? null}
        onChange={(strategy) => onChange({ strategy: strategy ?? '' })}
      />
    </Group>
  )
}

function clean(search: CheckSearch): CheckSearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ''))
}

function fits(check: Check, { name = '', platform, tag, strategy }: CheckSearch): boolean {
  const words = `${check.name} ${check.slug} ${check.description}`.toLowerCase()
  return (
    words.includes(name.toLowerCase()) &&
    (platform === undefined || check.compatible_platforms.some((each) => each === platform)) &&
    (tag === undefined || check.check_tags.some((each) => each.name === tag)) &&
    (strategy === undefined || check.remediation_strategy === strategy)
  )
}

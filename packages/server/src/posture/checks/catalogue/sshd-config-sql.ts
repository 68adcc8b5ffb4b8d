/*
 * What an SSH server is set to, by its configuration file and the files that it includes (sshd_config(5)): the
 * first value that sshd reads counts, in the order in which Include lets it read the files, and Match blocks
 * add to that for some. osquery reads the files with Augeas, whose lens knows these places and no others.
 */
import { quoteSql } from './verdict-sql.ts'

const MAIN_FILE = '/etc/ssh/sshd_config'
const FOLDER = '/etc/ssh/sshd_config.d'
/** sshd reads the first files first, so what lies beyond changes only what none of them says. */
const FILES_MAX = 40
/** How `Include` names the folder; relative names begin at /etc/ssh. */
const FOLDER_INCLUDES = [`${FOLDER}/*.conf`, 'sshd_config.d/*.conf']
/** Files that distributions include and that hold algorithms only. */
const HARMLESS_INCLUDE = '/etc/crypto-policies/%'

// As sshd takes it: without quotes, whatever the case and the white space.
const FULL_VALUE = `lower(replace(replace(a.value, char(9), ' '), '"', ''))`
const VALUE = `substr(${FULL_VALUE}, 1, instr(${FULL_VALUE} || ' ', ' ') - 1)`
/** Below the file: what stands within a Match block has it as its parent. */
const NODE = `substr(a.node, length(a.path) + length('/files') + 1)`
const IS_MATCH = `${NODE} LIKE '/Match%/%'`
/** Augeas numbers the lines of one file that have the same keyword. */
const NUMBER = `CASE WHEN ${NODE} LIKE '%]' THEN CAST(substr(${NODE}, instr(${NODE}, '[') + 1) AS INTEGER) ELSE 1 END`

/**
 * Common table expressions, for a query that names them: `sshd_files` (path, size), `sshd_lines` (path,
 * place, keyword, value, full_value, is_match), `sshd_order` (the lines that sshd reads outside of Match
 * blocks, and what it reads that osquery cannot, as keyword `unread`; place sorts them) and `sshd_matches` (the
 * lines of Match blocks that it reads).
 *
 * The lines of the main file are numbered as they come: Augeas gives them in the order of the file, and only
 * that tells what stands before Include. They are read by a constant path, for a join might sort them. Every
 * look at Augeas reads files, so that the lines are kept.
 */
export const SSHD_CONFIG_SQL = `sshd_files(path, size) AS MATERIALIZED (
  SELECT path, size FROM file WHERE path = '${MAIN_FILE}'
  UNION ALL
  SELECT path, size FROM (
    SELECT path, size FROM file
    WHERE path LIKE '${FOLDER}/%.conf' AND filename NOT LIKE '.%'
    ORDER BY path LIMIT ${FILES_MAX}
  )
),
sshd_lines(path, place, keyword, value, full_value, is_match) AS MATERIALIZED (
  SELECT a.path, printf('%08d', row_number() OVER ()), lower(a.label), ${VALUE}, ${FULL_VALUE}, ${IS_MATCH}
  FROM augeas a WHERE a.path = '${MAIN_FILE}'
  UNION ALL
  SELECT a.path, f.path || char(1) || printf('%08d', ${NUMBER}), lower(a.label), ${VALUE}, ${FULL_VALUE}, ${IS_MATCH}
  FROM sshd_files f CROSS JOIN augeas a ON a.path = f.path
  WHERE f.path <> '${MAIN_FILE}'
),
sshd_include(place) AS MATERIALIZED (
  SELECT MIN(place) FROM sshd_lines
  WHERE path = '${MAIN_FILE}' AND keyword = 'include' AND NOT is_match
    AND (${FOLDER_INCLUDES.map((path) => `' ' || full_value || ' ' LIKE '% ${path} %'`).join(' OR ')})
),
sshd_order(place, keyword, value, full_value) AS MATERIALIZED (
  SELECT l.place, l.keyword, l.value, l.full_value FROM sshd_lines l
  WHERE l.path = '${MAIN_FILE}' AND NOT l.is_match AND l.keyword <> 'include'
  UNION ALL
  SELECT i.place || char(1) || l.place, l.keyword, l.value, l.full_value
  FROM sshd_include i JOIN sshd_lines l ON l.path <> '${MAIN_FILE}'
  WHERE i.place IS NOT NULL AND NOT l.is_match AND l.keyword <> 'include'
  UNION ALL
  SELECT i.place || char(1) || f.path, 'unread', f.path, f.path
  FROM sshd_include i JOIN sshd_files f ON f.path <> '${MAIN_FILE}'
  WHERE i.place IS NOT NULL AND f.size > 0 AND f.path NOT IN (SELECT path FROM sshd_lines)
  UNION ALL
  SELECT CASE WHEN l.is_match THEN '' WHEN l.path = '${MAIN_FILE}' THEN l.place ELSE i.place || char(1) || l.path END,
    'unread', l.value, l.full_value
  FROM sshd_lines l JOIN sshd_include i
  WHERE l.keyword = 'include' AND (l.path = '${MAIN_FILE}' OR i.place IS NOT NULL)
    AND l.value NOT LIKE '${HARMLESS_INCLUDE}'
    AND (l.is_match OR l.value NOT IN (${FOLDER_INCLUDES.map(quoteSql).join(', ')}))
),
sshd_matches(keyword, value) AS (
  SELECT keyword, value FROM sshd_lines
  WHERE is_match AND (path = '${MAIN_FILE}' OR (SELECT place FROM sshd_include) IS NOT NULL)
)`

/** SELECT of the first value that sshd reads of any of these keywords, which are in lower case. */
export function sshdValueSql(...keywords: readonly string[]): string {
  return `SELECT value FROM sshd_order WHERE keyword IN (${keywords.map(quoteSql).join(', ')}) ORDER BY place LIMIT 1`
}

/** As `sshdValueSql`, of the whole line behind the keyword. */
export function sshdFullValueSql(keyword: string): string {
  return `SELECT full_value FROM sshd_order WHERE keyword = ${quoteSql(keyword)} ORDER BY place LIMIT 1`
}

/** SELECT of what sshd reads before the first value of these keywords and osquery cannot read; NULL for nothing. */
export function sshdUnreadBeforeSql(...keywords: readonly string[]): string {
  const first = `SELECT MIN(place) FROM sshd_order WHERE keyword IN (${keywords.map(quoteSql).join(', ')})`
  return `SELECT group_concat(full_value, ', ') FROM sshd_order WHERE keyword = 'unread' AND place < COALESCE((${first}), '~')`
}

/** SELECT of how many values of these keywords in Match blocks are `value`. */
export function sshdMatchesSql(value: string, ...keywords: readonly string[]): string {
  return `SELECT COUNT(*) FROM sshd_matches WHERE value = ${quoteSql(value)} AND keyword IN (${keywords.map(quoteSql).join(', ')})`
}

/** SELECT of how many lines of the main file osquery has read. */
export const SSHD_LINES_SEEN_SQL = `SELECT COUNT(*) FROM sshd_lines WHERE path = '${MAIN_FILE}'`

/** SELECT of whether the main file is there. */
export const SSHD_FILE_SEEN_SQL = `SELECT COUNT(*) FROM sshd_files WHERE path = '${MAIN_FILE}'`

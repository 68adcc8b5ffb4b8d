/**
 * Tables whose values follow the clock. Their stored rows hold only what does not change: `uptime`
 * keeps the second of the last boot in `total_seconds`, `time` the local time zone.
 */
export const COMPUTED_VIEWS: Readonly<Record<string, string>> = {
  uptime: `
    SELECT (device_now() - total_seconds) / 86400 AS days,
      (device_now() - total_seconds) / 3600 % 24 AS hours,
      (device_now() - total_seconds) / 60 % 60 AS minutes,
      (device_now() - total_seconds) % 60 AS seconds,
      device_now() - total_seconds AS total_seconds
    FROM rows_uptime`,
  time: `
    SELECT CASE strftime('%w', device_now(), 'unixepoch')
        WHEN '0' THEN 'Sunday' WHEN '1' THEN 'Monday' WHEN '2' THEN 'Tuesday'
        WHEN '3' THEN 'Wednesday' WHEN '4' THEN 'Thursday' WHEN '5' THEN 'Friday'
        ELSE 'Saturday' END AS weekday,
      CAST(strftime('%Y', device_now(), 'unixepoch') AS INTEGER) AS year,
      CAST(strftime('%m', device_now(), 'unixepoch') AS INTEGER) AS month,
      CAST(strftime('%d', device_now(), 'unixepoch') AS INTEGER) AS day,
      CAST(strftime('%H', device_now(), 'unixepoch') AS INTEGER) AS hour,
      CAST(strftime('%M', device_now(), 'unixepoch') AS INTEGER) AS minutes,
      CAST(strftime('%S', device_now(), 'unixepoch') AS INTEGER) AS seconds,
      'UTC' AS timezone,
      local_timezone,
      device_now() AS unix_time,
      strftime('%Y-%m-%d %H:%M:%S UTC', device_now(), 'unixepoch') AS timestamp,
      strftime('%Y-%m-%dT%H:%M:%SZ', device_now(), 'unixepoch') AS datetime,
      strftime('%Y-%m-%dT%H:%M:%SZ', device_now(), 'unixepoch') AS iso_8601
    FROM rows_time`,
}

// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

/// `dnsctl cache`: shows and changes what a store holds.
struct CacheCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Look into a store of answers, and change what is in it.",
    discussion: """
      The store is the one that --store names, else that of the environment (DIRECTDNS_STORE) or of the configuration file, else the file in the cache folder. A store in memory ends with its process: there is nothing to look into.

      Freshness is what a lookup would make of an answer now: fresh; due (within its lifetime, and refreshed by the next lookup); grace (expired a moment ago, and used at once); stale (used when no fresh answer can be had in time); gone. It depends on the cache's times in the configuration file.

      A store counts no hits: a lookup that finds its answer in the process's cache takes some 0.1 microseconds and does not use the store. Metrics have the hits of a process.

      Running processes keep what is forgotten here in their own caches until it is due there.

      EXIT STATUS
          0  it was done
          1  a name is not stored or is no valid name, a line cannot be imported,
             or the question was declined
         64  the command line is wrong
         74  the store, a file or standard input could not be read or written,
             or the store had no room for all of an import
         78  the configuration is wrong
        130  interrupted
        141  the reader of standard output has gone
        143  terminated while it refreshed
      refresh has those of dnsctl resolve, and 74 where an answer was not stored.
      """,
    subcommands: [
      CacheListCommand.self, CacheShowCommand.self, CacheRefreshCommand.self, CacheForgetCommand.self,
      CacheClearCommand.self, CacheExportCommand.self, CacheImportCommand.self, CacheStatsCommand.self,
    ])
}

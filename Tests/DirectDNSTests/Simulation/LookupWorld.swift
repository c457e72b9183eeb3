// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// A made-up world around the lookups' machine, out of one seed.
///
/// Its servers are slow, dead, lying or busy, its callers come and leave, its cache is too small, a fleet shares a store
/// that is slow and forgets, and the clock jumps. It has no thread, no task and no time of its own.
///
/// What others do is in the second file, and what must hold in the third.
struct LookupWorld {
  /// What whoever carries out the decisions does wrongly on purpose, so that it is seen whether the checks notice.
  enum Slip: CaseIterable {
    /// A timer is mostly not set after an event; the next one that is would make up for one alone.
    case losesWakeUp
    case answersTwice
    case losesAnswer
    /// A query's end is not told.
    case losesEnd
    case sendsTwice
    /// A lease is not given back.
    case keepsLease
  }

  struct Fault: Error, CustomStringConvertible {
    var description: String
  }

  struct Caller {
    var request: LookupRequest
    var deadline: ResolverInstant
    /// When an expired answer serves, for as long as there is one.
    var staleBy: ResolverInstant?
    /// Whether the cache does not count for it.
    var isPastCache = false
    /// Whether it wants fresh answers, and not all.
    var isRenewal = false
  }

  struct Sent {
    var server: Int
    var subject: QueryMachine.Subject
    var isHedge: Bool
    var asked: ResolverInstant
    /// Whether nobody wants it any more.
    var isCancelled = false
    /// Whether its name was forgotten since, or the configuration changed: whoever asks now does not wait for it.
    var isForgotten = false

    var questions: [AddressQuestion] { subject.questions }
  }

  enum Event {
    case call, leave(Number<DirectDNS.Lookup>), leaveRecords(Number<DNSQuestion>), mood, change, fleet
    case reply(QueryMachine.QueryNumber, QueryMachine.Reply)
    case system(Number<InFlightQuestion>, Result<Answer, ProviderFailure>)
    case store(Number<InFlightQuestion>, StoreReading<CacheEntry>)
    case lease(Number<InFlightQuestion>, StoreLease.State)
  }

  let seed: UInt64
  let slip: Slip?
  /// Whether it prints what happens.
  var isTold = false
  var random: SeededGenerator
  var machine: LookupMachine
  let configuration: ResolverConfiguration
  var now = ResolverInstant(nanoseconds: 0)
  private var events: [(at: ResolverInstant, number: Int, event: Event)] = []
  private var count = 0
  /// When it wakes the machine if nothing happens before.
  private var timer: ResolverInstant?
  let hosts: [HostName]

  // What others are like.
  /// Questions whose answers are for no cache.
  let unkept: Set<AddressQuestion>
  var moods: [Mood] = []
  var systemMood = Mood.fine
  var store = Store()
  // What is under way.
  var callers: [Number<DirectDNS.Lookup>: Caller] = [:]
  /// Who waits for records, and until when at most.
  var recordCallers: [Number<DNSQuestion>: ResolverInstant] = [:]
  var sent: [QueryMachine.QueryNumber: Sent] = [:]
  /// When a question was asked because its name is kept alive alone: the last ten seconds.
  var refreshes: [AddressQuestion: [ResolverInstant]] = [:]
  /// Until when a server wants to be left alone, by its number.
  var blocked: [Int: ResolverInstant] = [:]
  /// How many replies have come from a server since that.
  var replies: [Int: Int] = [:]
  /// Seconds of the last minute, with the queries and the hedges that were sent in each.
  var minute: [(second: Int64, queries: Int, hedges: Int)] = []
  /// Questions that may have a hedge because the other family of their lookup has one, and when that ends.
  var hedged: [AddressQuestion: ResolverInstant] = [:]
  var answered = 0
  var queries = 0
  var evictions = 0
  private(set) var steps = 0
  /// The caller who has just left.
  var left: Number<DirectDNS.Lookup>?
  /// The caller who wanted records, and has just left.
  var leftRecords: Number<DNSQuestion>?
  private(set) var isShutDown = false

  init(seed: UInt64, slip: Slip? = nil) {
    self.seed = seed
    self.slip = slip
    var random = SeededGenerator(seed: seed)
    let serverCount = Int.random(in: 1...4, using: &random)
    hosts = (0..<Int.random(in: 1...14, using: &random)).map { Sample.name("n\($0).example") }
    var configuration = ResolverFixture.configuration((0..<serverCount).map { "server\($0)" })
    for place in configuration.providers.indices where Int.random(in: 0..<3, using: &random) == 0 {
      configuration.providers[place].provider = ManyAtOnce(name: "server\(place)")
    }
    configuration.hedges = .random(using: &random)
    configuration.usesSystemDNS = .random(using: &random)
    // At least one more than are kept alive: of those, the one that goes when all are is the last one of the table, whose
    // order every process makes anew.
    configuration.capacity =
      Bool.random(using: &random) ? hosts.count + 1 : Int.random(in: 5...max(5, hosts.count), using: &random)
    configuration.families = [.any, .ipv4, .ipv6].randomElement(using: &random) ?? .any
    configuration.cache.refreshesAhead = .random(using: &random)
    if Int.random(in: 0..<4, using: &random) == 0 {
      configuration.providers[0].rateLimit = RateLimit(perSecond: 5, burst: 2)
    }
    let hasStore = Bool.random(using: &random)
    let hasLeases = hasStore && Bool.random(using: &random)
    let cache = AnswerCache(policy: configuration.cache, capacity: configuration.capacity)
    for provider in configuration.providers { _ = cache.sources.code(ofProvider: provider.provider.name) }
    machine = LookupMachine(
      ResolverSettings(configuration, system: NoSystem()), cache: cache, hasStore: hasStore, hasLeases: hasLeases,
      seed: seed, at: now)
    moods = configuration.providers.map { _ in Mood.fine }
    unkept = Set(
      hosts.flatMap { [AddressQuestion($0, .ipv4), AddressQuestion($0, .ipv6)] }
        .filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
    self.configuration = configuration
    self.random = random
  }

  /// Runs for so many simulated seconds, then ends the resolver and looks at what is left.
  mutating func run(seconds: Int) throws(Fault) {
    let end = now + .seconds(Int64(seconds))
    schedule(.call, after: .zero)
    schedule(.mood, after: .zero)
    schedule(.change, after: milliseconds(0...60_000))
    schedule(.fleet, after: .zero)
    while now < end { try step() }
    events.removeAll { if case .call = $0.event { true } else { false } }
    // Half of the worlds end in the middle of things, the others when all is done.
    if Bool.random(using: &random) {
      isShutDown = true
      machine.shutdown(at: now)
    } else {
      machine.keepAlive([], at: now)
    }
    try settle()
    events.removeAll { event in
      switch event.event {
      case .mood, .change, .fleet: true
      default: false
      }
    }
    let last = now + .seconds(120)
    while now < last, machine.questionCount + machine.lookupCount > 0 || !events.isEmpty { try step() }
    try checkEnd()
  }

  // MARK: Time

  private mutating func step() throws(Fault) {
    steps += 1
    let next = events.indices.min { (events[$0].at, events[$0].number) < (events[$1].at, events[$1].number) }
    if let timer, next.map({ timer < events[$0].at }) ?? true {
      now = max(now, timer)
      say("it is woken")
      machine.timePassed(at: now)
      try expect(machine.nextInstant().map { $0 > now } ?? true, "it wants to be woken for what was due")
    } else if let next {
      let event = events.remove(at: next)
      now = max(now, event.at)
      say("\(event.event)")
      happen(event.event)
    } else {
      now = now + .seconds(1)
    }
    try settle()
  }

  private mutating func settle() throws(Fault) {
    while true {
      let actions = machine.takeActions()
      if actions.isEmpty { break }
      for action in actions { try perform(action) }
    }
    for ending in machine.takeEndings() { try perform(ending) }
    if !slips(.losesWakeUp, 70) { timer = machine.nextInstant() }
    try check()
  }

  mutating func schedule(_ event: Event, after delay: Duration) {
    count += 1
    events.append((now + delay, count, event))
  }

  /// A query's reply will not come.
  mutating func unschedule(_ query: QueryMachine.QueryNumber) {
    events.removeAll { if case .reply(query, _) = $0.event { true } else { false } }
  }

  mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
    .milliseconds(Int.random(in: range, using: &random))
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  func say(_ text: @autoclosure () -> String) { if isTold { print("\(now.nanoseconds / 1_000_000) ms: \(text())") } }

  mutating func slips(_ slip: Slip, _ percent: Int) -> Bool { self.slip == slip && chance(percent) }

  // MARK: What happens

  private mutating func happen(_ event: Event) {
    switch event {
    case .call:
      call()
      schedule(.call, after: chance(10) ? milliseconds(0...40_000) : milliseconds(0...300))
    case .leave(let number):
      machine.cancel(number, at: now)
      left = number
    case .leaveRecords(let number):
      machine.cancelRecords(number, at: now)
      leftRecords = number
    case .mood:
      changeMoods()
      schedule(.mood, after: milliseconds(0...20_000))
    case .change:
      change()
      schedule(.change, after: milliseconds(0...60_000))
    case .fleet:
      actAsFleet()
      schedule(.fleet, after: milliseconds(0...3_000))
    case .reply(let number, let reply):
      if slips(.losesEnd, 1) { return }
      noteEnd(of: number, reply)
      machine.ended(number, reply, at: now)
      // Whatever comes twice counts once.
      if chance(5) { machine.ended(number, reply, at: now) }
    case .system(let number, let result):
      machine.systemAnswered(number, result, at: now)
      if chance(5) { machine.systemAnswered(number, result, at: now) }
    case .store(let number, let reading): machine.storeRead(number, reading, at: now)
    case .lease(let number, let state): machine.leaseTaken(number, state, at: now)
    }
  }
}

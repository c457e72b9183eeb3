// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// What will happen in a made-up world, and when.
struct Agenda<Event> {
  /// The next thing last.
  private var entries: [(at: Int64, order: Int, event: Event)] = []
  private var order = 0

  var next: (at: Int64, event: Event)? { entries.last.map { ($0.at, $0.event) } }

  /// Adds an event; of two at the same time the one that was added first comes first.
  mutating func add(_ event: Event, at time: Int64) {
    order += 1
    let place = entries.lastIndex { $0.at > time || ($0.at == time && $0.order > order) }
    entries.insert((time, order, event), at: place.map { $0 + 1 } ?? 0)
  }

  mutating func removeNext() { entries.removeLast() }
}

/// A made-up world around a machine, all of it from one seed.
protocol SimulatedWorld {
  associatedtype Event
  associatedtype Slip: Equatable

  /// What whoever carries out the decisions does wrongly on purpose.
  var slip: Slip? { get }
  /// Whether it prints what happens.
  var isTold: Bool { get }
  var random: SeededGenerator { get set }
  var agenda: Agenda<Event> { get set }
  var now: Int64 { get }
}

extension SimulatedWorld {
  mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }

  mutating func slips(_ slip: Slip, _ probability: Double) -> Bool { self.slip == slip && chance(probability) }

  mutating func plan(_ event: Event, in delay: ClosedRange<Int64>) {
    agenda.add(event, at: now + Int64.random(in: delay, using: &random))
  }

  mutating func plan(_ event: Event, at time: Int64) { agenda.add(event, at: time) }

  func say(_ text: @autoclosure () -> String) { if isTold { print("\(now) ms: \(text())") } }
}

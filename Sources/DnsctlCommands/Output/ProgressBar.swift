// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// How far one transfer is, as a line for a terminal: a pure function of values and `now`.
struct ProgressBar: Sendable {
  /// The text before the bar.
  let label: String
  /// The bytes that were there before, if a file is continued.
  private(set) var offset: Int64 = 0
  /// The bytes that are there now.
  private(set) var received: Int64 = 0
  /// The bytes that there will be; nil if the server does not say.
  private(set) var expected: Int64?
  private var rate: TransferRate

  init(label: String, now: ResolverInstant) {
    self.label = label.printable
    rate = TransferRate(now: now)
  }

  /// The transfer begins, or begins again.
  mutating func begin(at offset: Int64, expecting rest: Int64?, now: ResolverInstant) {
    (self.offset, received) = (offset, offset)
    // A server may send any number; one that cannot be a length is ignored.
    expected = rest.flatMap { rest in
      let (sum, overflow) = offset.addingReportingOverflow(rest)
      return overflow || rest < 0 ? nil : sum
    }
    rate = TransferRate(now: now)
  }

  /// So many bytes more have come.
  mutating func add(_ count: Int, now: ResolverInstant) {
    received += Int64(count)
    rate.note(received - offset, now: now)
  }

  /// The line, no wider than `width` columns.
  func line(now: ResolverInstant, width: Int, isDone: Bool = false) -> String {
    let speed = isDone ? rate.overall(received - offset, now: now) : rate.current(received - offset, now: now)
    var figures = ByteCount.text(received)
    if let expected, !isDone { figures += " of \(ByteCount.text(expected))" }
    figures += "  \(ByteCount.text(speed))/s"
    if isDone {
      figures += "  in \(Self.clock(rate.elapsed(now)))"
    } else if let expected, speed > 0, expected >= received {
      figures += "  \(Self.clock(.seconds(Self.quotient(expected - received, speed)))) left"
    }
    return Self.drawn("\(label)  ", share, figures, most: 40, usual: Self.figuresWidth, width: width)
  }

  /// A percentage behind a text, a bar of so many columns at most, and figures with their usual width.
  static func drawn(_ label: String, _ share: Int?, _ figures: String, most: Int, usual: Int, width: Int) -> String {
    // A line that wrapped could not be drawn over.
    let width = max(0, width)
    guard let share else { return "\(label)\(figures)".fitted(to: width) }
    let percent = "\(share)%"
    let head = "\(label)\(String(repeating: " ", count: max(0, 4 - percent.count)))\(percent)  "
    // Minus the brackets and two blanks after them; a shorter bar is left out. The bar's width does not change with
    // that of the figures.
    let room = min(most, width - head.columns - max(figures.count, usual) - 4)
    guard room >= 5 else { return "\(head)\(figures)".fitted(to: width) }
    let filled = room * share / 100
    return
      "\(head)[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: room - filled))]  \(figures)"
  }

  /// The quotient rounded up, without a sum that could overflow.
  private static func quotient(_ number: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
    return rest > 0 ? quotient + 1 : quotient
  }

  /// The width that most figures fit in: `999.9 MB of 999.9 MB  99.9 MB/s  0:00 left`.
  private static let figuresWidth = 43

  /// The percentage; nil if the length is unknown, or was too small.
  private var share: Int? {
    guard let expected, expected > 0, received <= expected else { return nil }
    return Int((Double(received) / Double(expected) * 100).rounded(.down))
  }

  /// `0:07`, `12:30`, `3:05:00`.
  static func clock(_ duration: Duration) -> String {
    func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let seconds = max(0, duration.components.seconds)
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(seconds % 60))" : "\(minutes):\(two(seconds % 60))"
  }
}

/// The bytes per second over the last few seconds, as curl counts them: it neither jumps nor depends on old values.
struct TransferRate: Sendable {
  private static let window = Duration.seconds(5)
  private static let step = Duration.milliseconds(250)

  private let began: ResolverInstant
  private var samples: [(at: ResolverInstant, bytes: Int64)]

  init(now: ResolverInstant) {
    began = now
    samples = [(now, 0)]
  }

  /// Notes how many bytes have come by now.
  mutating func note(_ bytes: Int64, now: ResolverInstant) {
    guard let last = samples.last, now - last.at >= Self.step else { return }
    samples.append((now, bytes))
    // One sample just outside the window is kept.
    while samples.count > 2, now - samples[1].at >= Self.window { samples.removeFirst() }
  }

  func current(_ bytes: Int64, now: ResolverInstant) -> Int64 {
    let from = samples.last { now - $0.at >= Self.window } ?? samples.first
    guard let from else { return 0 }
    return Self.perSecond(bytes - from.bytes, now - from.at)
  }

  func overall(_ bytes: Int64, now: ResolverInstant) -> Int64 { Self.perSecond(bytes, elapsed(now)) }

  func elapsed(_ now: ResolverInstant) -> Duration { now - began }

  private static func perSecond(_ bytes: Int64, _ duration: Duration) -> Int64 {
    let seconds = duration / .seconds(1)
    return seconds > 0 ? Int64(exactly: (Double(bytes) / seconds).rounded(.down)) ?? .max : 0
  }
}

/// Bytes as people read them.
enum ByteCount {
  /// `512 B`, `1.5 kB`, `12.3 MB`: powers of a thousand, one decimal.
  static func text(_ bytes: Int64) -> String {
    guard bytes >= 1000 else { return "\(max(0, bytes)) B" }
    var tenths = bytes / 100 + (bytes % 100 >= 50 ? 1 : 0)
    for unit in ["kB", "MB", "GB"] {
      if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
      tenths = (tenths + 500) / 1000
    }
    return "\(tenths / 10).\(tenths % 10) TB"
  }
}

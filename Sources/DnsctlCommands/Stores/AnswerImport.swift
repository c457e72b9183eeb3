// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Reads the file of an import: pure functions.
enum AnswerImport {
  /// The most answers that are stored at once.
  static let batch = 256

  /// The most wrong lines that an error lists.
  private static let namedFaults = 10

  /// Reads a whole export; of several answers to a question, the newest counts.
  ///
  /// - Parameters:
  ///   - bytes: the file.
  ///   - place: the file's name in errors.
  ///   - now: what tells answers from the future, which are newer than none that is not.
  /// - Returns: the answers, in the order of questions.
  /// - Throws: what is wrong, with the numbers of lines.
  static func answers(
    _ bytes: [UInt8], _ place: String, at now: WallInstant
  ) throws(CommandError) -> [StoredAnswer] {
    var lines = lines(bytes)[...]
    guard let head = lines.popFirst() else {
      throw CommandError(.noAnswer, "\(place) is empty. The first line of an export is \(AnswerFile.head.dropLast())")
    }
    var faults: [String] = []
    func read<Value>(_ line: LineReader.Line, _ read: (String) throws(DirectDNSError) -> Value) -> Value? {
      do throws(DirectDNSError) {
        if let fault = line.fault { throw DirectDNSError(.invalidRequest, fault) }
        return try read(line.text)
      } catch {
        faults.append("\(place):\(line.number): \(error.message)")
        return nil
      }
    }
    // With another first line it is another kind of file, whose lines are not checked.
    if read(head, AnswerFile.checkHead) == nil { throw failure(faults) }
    var newest: [AddressQuestion: StoredAnswer] = [:]
    for line in lines {
      guard let answer = read(line, AnswerFile.answer) else { continue }
      if let other = newest[answer.question], other.isNewer(than: answer, at: now) { continue }
      newest[answer.question] = answer
    }
    guard faults.isEmpty else { throw failure(faults) }
    return newest.values.sorted { $0.question < $1.question }
  }

  private static func lines(_ bytes: [UInt8]) -> [LineReader.Line] {
    // No answer takes a tenth of that.
    var reader = LineReader(limit: 1 << 20, hasComments: false)
    return reader.feed(bytes) + [reader.finish()].compactMap(\.self)
  }

  private static func failure(_ faults: [String]) -> CommandError {
    let named = faults.prefix(namedFaults).joined(separator: "\ndnsctl: ")
    let rest = faults.count - namedFaults
    let more = rest > 0 ? "\ndnsctl: and \(rest.counted("more line")) \(rest == 1 ? "is" : "are") wrong" : ""
    return CommandError(.noAnswer, "\(named)\(more)\ndnsctl: nothing was stored.")
  }
}

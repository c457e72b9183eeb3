// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Reads the file of an import: pure functions.
enum AnswerImport {
  /// The most answers that are stored at once.
  static let batch = 256

  /// The most wrong lines that an error lists.
  static let namedFaults = 10

  private typealias Line = (number: Int, bytes: ArraySlice<UInt8>)

  /// Reads a whole export; of several answers to a question, the one that was asked for last counts.
  ///
  /// - Parameters:
  ///   - bytes: the file.
  ///   - place: the file's name in errors.
  /// - Returns: the answers, in the order of questions.
  /// - Throws: what is wrong, with the numbers of lines.
  static func answers(_ bytes: [UInt8], _ place: String) throws(StoreFailure) -> [StoredAnswer] {
    var lines = lines(bytes)[...]
    guard let head = lines.popFirst() else {
      throw StoreFailure(.noAnswer, "\(place) is empty. The first line of an export is \(AnswerFile.head.dropLast())")
    }
    var faults: [String] = []
    func read<Value>(_ line: Line, _ read: (String) throws(DirectDNSError) -> Value) -> Value? {
      do throws(DirectDNSError) { return try read(try text(line)) } catch {
        faults.append("\(place):\(line.number): \(error.message)")
        return nil
      }
    }
    // With another first line it is another kind of file, whose lines are not checked.
    if read(head, AnswerFile.checkHead) == nil { throw failure(faults) }
    var newest: [AddressQuestion: StoredAnswer] = [:]
    for line in lines {
      guard let answer = read(line, AnswerFile.answer) else { continue }
      if let other = newest[answer.question], other.asked > answer.asked { continue }
      newest[answer.question] = answer
    }
    guard faults.isEmpty else { throw failure(faults) }
    return newest.values.sorted { $0.question < $1.question }
  }

  /// The lines that are not blank, with their numbers in the file.
  private static func lines(_ bytes: [UInt8]) -> [Line] {
    let blank: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")]
    return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated().compactMap {
      $1.allSatisfy(blank.contains) ? nil : ($0 + 1, $1)
    }
  }

  private static func text(_ line: Line) throws(DirectDNSError) -> String {
    guard let text = String(validating: line.bytes, as: UTF8.self) else {
      throw DirectDNSError(.invalidRequest, "the line is not UTF-8")
    }
    return text
  }

  private static func failure(_ faults: [String]) -> StoreFailure {
    let named = faults.prefix(namedFaults).joined(separator: "\ndnsctl: ")
    let rest = faults.count - namedFaults
    let more = rest > 0 ? "\ndnsctl: and \(rest.counted("more line")) \(rest == 1 ? "is" : "are") wrong" : ""
    return StoreFailure(.noAnswer, "\(named)\(more)\ndnsctl: nothing was stored.")
  }
}

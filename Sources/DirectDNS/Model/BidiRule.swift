// SPDX-License-Identifier: Apache-2.0
/// What RFC 5893 asks of the labels beside a right-to-left label.
///
/// libidn2 judges each label alone, but the rule is about the whole name (UTS #46 `CheckBidi`): beside
/// Hebrew or Arabic, `1a` would be shown in another order than it is read. The standard library has no bidi
/// classes, so a label is accepted only where its general categories leave no doubt.
enum BidiRule {
  /// The first label that may not stand in a name with right-to-left labels; nil when all is well.
  static func offender(in labels: [String]) -> String? {
    guard labels.contains(where: isRightToLeft) else { return nil }
    return labels.first { !$0.isEmpty && !isRightToLeft($0) && !isLeftToRight($0) }
  }

  /// Whether a label has a character of class R, AL or AN; unassigned ones of their blocks count, too.
  static func isRightToLeft(_ label: String) -> Bool {
    label.unicodeScalars.contains { scalar in
      switch scalar.value {
      case 0x0590...0x08FF, 0x200F, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x1_0800...0x1_0FFF,
        0x1_E800...0x1_EFFF:
        !isEuropeanOrMark(scalar)
      default: false
      }
    }
  }

  /// The marks (NSM) and the extended Arabic-Indic digits (EN) among the right-to-left blocks.
  private static func isEuropeanOrMark(_ scalar: Unicode.Scalar) -> Bool {
    (0x06F0...0x06F9).contains(scalar.value) || scalar.properties.generalCategory == .nonspacingMark
  }

  /// RFC 5893 §2, rules 1, 5 and 6: begins with L, ends in L or EN before any marks.
  private static func isLeftToRight(_ label: String) -> Bool {
    let scalars = label.unicodeScalars
    guard let first = scalars.first, isLetter(first) else { return false }
    guard let last = scalars.last(where: { $0.properties.generalCategory != .nonspacingMark }) else {
      return false
    }
    return isLetter(last) || last.properties.generalCategory == .decimalNumber
  }

  /// Letters other than modifier letters, some of which are neutral, are of class L in these blocks.
  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .otherLetter: true
    default: false
    }
  }
}

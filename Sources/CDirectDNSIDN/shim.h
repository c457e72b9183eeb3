// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <idn2.h>

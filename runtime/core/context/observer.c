/* SPDX-License-Identifier: MIT */
#include "observer.h"

const McObserver *mc_observer;
